"""How many examples a test of a property draws: fewer in the default run than in `make slow`."""

from hypothesis import settings


def examples(most: int) -> int:
    """`most` under Hypothesis's own profile, and fewer in proportion under that of `conftest.py`.

    Args:
        most: The number in a run that includes slow tests.
    """
    return most * settings.default.max_examples // 100
