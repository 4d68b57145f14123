"""Trainings that end before their end."""

from solvent.benchmark.progress import Moment, Report


class Interrupted(Exception):  # noqa: N818  # Not an error.
    """The end of an interrupted training."""


def stop_at(timesteps: int) -> Report:
    """A report that interrupts a training once it has been evaluated after so many steps."""

    def report(moment: Moment) -> None:
        last = moment.evaluation
        if last is not None and last.timesteps >= timesteps:
            raise Interrupted

    return report
