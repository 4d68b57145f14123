"""The policies that an algorithm returns, as tables that can be scored.

For each learned seat, an algorithm may return

- a :class:`solvent.model.TabularPolicy`, or an array [S, A] of probabilities of actions;
- a function from a batch of observations [n, D] to probabilities [n, A] or actions [n]
  (:mod:`solvent.baselines.gate`). The probability of illegal actions is added to the lowest legal
  one, which environments play instead;
- a :class:`Learned`, if the greedy policy is not that of the most probable actions.

In self-play it returns a pair, seat 0 first, or one function for both seats.

The policies of many runs of a task are stored in one small file, by which a submission is scored.
It contains only the policy by which runs are judged, and of this only decisions, that is, the
states in which a player has several legal actions. With one seat it is the greedy policy of each of
R runs, and in self-play the sampled policy of each seat s:

========================  ============  =========================================================
array                     shape         numbers
========================  ============  =========================================================
``greedy_0``              [R, states]   the action that is taken
``sampled_<s>``           [R, pairs]    the probability of each state's legal actions in turn but
                                        the last, as a share of a whole number
========================  ============  =========================================================

The whole number is :data:`UNIT`. A policy read from the file is a distribution in every state, each
probability differs from the original by less than one share, and it is this policy that is scored.
The file is an archive (:mod:`solvent.exact.archive`): its shapes follow from the game, and are
compared before anything is unpacked.
"""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from solvent.baselines import baseline_policies
from solvent.baselines.gate import tabulated
from solvent.benchmark.records import BaselineRecord, TaskRecord, check_record, figures
from solvent.benchmark.suites import TaskGame
from solvent.envs.sampling import observed
from solvent.exact import Solution, load_policy
from solvent.exact.archive import ArraySchema, Schema, Shapes, read_archive, write_archive
from solvent.exact.scoring import comparable_score
from solvent.model import TabularGame, TabularPolicy
from solvent.model.arrays import Bools, Ints
from solvent.model.files import StoreError
from solvent.model.parameters import shown

UNIT = 65_535
"""The number of shares that make up probability 1."""

KIND = "policies"
"""The kind of archive that a file of policies is."""


@dataclass(frozen=True, eq=False)
class Learned:
    """A policy with its greedy policy.

    Attributes:
        sampled: The policy whose actions are drawn.
        mode: The greedy policy, which takes the most probable actions.
    """

    sampled: TabularPolicy
    mode: TabularPolicy


def learned_policies(
    game: TaskGame, returned: Any, *, name: str = "policy", observation: str = "vector"
) -> tuple[Learned, ...]:
    """Return the learned policies of each seat from the return value of an algorithm.

    Args:
        game: The game of the task.
        returned: The return value, in a form that the module allows.
        name: Name of the policies in tables and figures.
        observation: Observation type passed to functions.

    Raises:
        ValueError: If it is none of those allowed, or no policy for the game.
    """
    if len(game.seats) == 1:
        parts = [returned]
    elif callable(returned):
        parts = [returned, returned]
    elif isinstance(returned, (tuple, list)) and len(returned) == 2:
        parts = list(returned)
    else:
        raise ValueError(
            f"by self-play an algorithm returned {shown(returned)}; allowed are a pair of policies "
            f"and a function for both seats"
        )
    return tuple(
        _learned(game, part, seat, name, observation)
        for part, seat in zip(parts, game.seats, strict=True)
    )


def _learned(game: TaskGame, part: Any, seat: int, name: str, observation: str) -> Learned:
    """Return the policy of one seat. Support for further kinds of policies belongs here."""
    match part:
        case Learned():
            return Learned(_own(game, part.sampled, seat, name), _own(game, part.mode, seat, name))
        case TabularPolicy():
            policy = _own(game, part, seat, name)
        case np.ndarray():
            policy = TabularPolicy.of(game.table, part, player=seat, name=name)
        case _ if callable(part):
            seen = observed(game.table, seat, observation)
            policy, _ = tabulated(game.table, part, seen, player=seat, name=name)
        case _:
            raise ValueError(
                f"an algorithm returned {shown(part)}; allowed are a TabularPolicy, an array "
                f"[S, A] and a function of observations"
            )
    return Learned(policy, policy.mode())


def _own(game: TaskGame, policy: TabularPolicy, seat: int, name: str) -> TabularPolicy:
    """Return a policy for the game that is played, or for the table with the opponent folded in."""
    if policy.player != seat:
        raise ValueError(f"{policy.name} is a policy of player {policy.player}, not of {seat}")
    if policy.model_hash == game.played.model_hash:
        policy = replace(policy, model_hash=game.table.model_hash)
    policy.check_is_for(game.table)
    return replace(policy, name=name)


def policy_files(place: Path, game: TaskGame) -> list[tuple[Path, Path]]:
    """Return the files of the sampled and the greedy policy of each seat.

    Args:
        place: The folder of a run in a bench.
        game: The game of the task.
    """
    endings = ("",) if len(game.seats) == 1 else ("_0", "_1")
    return [(place / f"policy{end}.npz", place / f"policy_mode{end}.npz") for end in endings]


def run_policies(place: Path, game: TaskGame) -> tuple[Learned, ...]:
    """Read the policies of a run from its folder in a bench.

    Args:
        place: The folder of the run.
        game: The game of the task.

    Raises:
        StoreError: If one is missing, damaged, or for another game or seat.
    """
    return tuple(
        Learned(*(load_policy(path, game.table, seat) for path in paths))
        for paths, seat in zip(policy_files(place, game), game.seats, strict=True)
    )


def figures_of_run(game: TaskGame, policies: Sequence[Learned]) -> dict[str, Any]:
    """Return the figures of a run, as :class:`solvent.benchmark.records.AgentRecord` names them.

    Args:
        game: The game of the task.
        policies: The policies of each learned seat, seat 0 first.
    """

    def scored(own: Iterable[TabularPolicy]) -> dict[str, Any]:
        return figures([comparable_score(game.table, policy, game.solution) for policy in own])

    sampled = greedy = scored(one.sampled for one in policies)
    if any(one.mode is not one.sampled for one in policies):
        greedy = scored(one.mode for one in policies)
    return sampled | {f"mode_{name}": figure for name, figure in greedy.items()}


def best_constant(game: TabularGame, solution: Solution, seats: Sequence[int]) -> BaselineRecord:
    """Score the best policy that takes the same action in every state.

    Where the action is not legal it counts for the lowest legal one, as environments play it.

    Args:
        game: The game.
        solution: Solution of `game`.
        seats: Seats to score it in, each by its own best action.
    """
    best = []
    for player in seats:
        actions = range(game.mask[player].shape[1])
        every = (TabularPolicy.constant(game, action, player=player) for action in actions)
        scores = (comparable_score(game, policy, solution) for policy in every)
        best.append(max(scores, key=lambda one: -math.inf if math.isnan(one.value) else one.value))
    return BaselineRecord("constant", **figures(best))


def score_baselines(
    game: TabularGame,
    solution: Solution,
    names: Iterable[str] | None = None,
    *,
    seats: Sequence[int] | None = None,
) -> tuple[BaselineRecord, ...]:
    """Score baselines in the seats of a game.

    Args:
        game: The game.
        solution: Solution of `game`.
        names: Names of the baselines. Default: all that the game has.
        seats: Seats to score baselines in. Default: all.

    Returns:
        A record of each. The value is minus infinity if a baseline incurs costs for ever, such as
        by running into a wall of CliffWalking, and NaN if nothing could be proved.
    """
    policies = [
        baseline_policies(game, names, player=p)
        for p in (range(game.info.players) if seats is None else seats)
    ]
    # Every score is normalized by that of the uniform policy, which is therefore computed first.
    scores = {
        name: [comparable_score(game, own[name], solution, tolerance=1e-9) for own in policies]
        for name in sorted(policies[0], key=lambda name: name != "uniform")
    }
    return tuple(BaselineRecord(name, **figures(scores[name])) for name in policies[0])


def task_record(game: TaskGame, names: Iterable[str] | None = None) -> TaskRecord:
    """Return the record of a task with its optimum and baselines, without agents.

    Args:
        game: The game of the task.
        names: Names of the baselines. Default: all that the game has.
    """
    optimum, lower, upper = game.optimum
    return TaskRecord(
        env=game.task.environment,
        game=game.table.info.name,
        parameters=dict(game.table.info.parameters),
        optimum=optimum,
        bracket=(lower, upper),
        agents=(),
        baselines=score_baselines(game.table, game.solution, names, seats=game.seats),
        task=game.task,
        model_hash=game.table.model_hash,
        constant=best_constant(game.table, game.solution, game.seats),
    )


def recomputed(
    stated: TaskRecord,
    game: TaskGame,
    runs: Iterable[Sequence[Learned]],
    where: str,
    tolerance: float,
) -> TaskRecord:
    """Return the record of a task with all figures computed, none of which may differ from it.

    Args:
        stated: The record as it was read.
        game: The tables of the task.
        runs: The policies of each agent of the record, one for each seat.
        where: The file, for messages.
        tolerance: The largest allowed difference (:func:`solvent.benchmark.records.check_record`).

    Raises:
        StoreError: If a figure differs, or the game has no baseline of a name in the record.
    """
    try:
        own = task_record(game, [one.name for one in stated.baselines])
    except ValueError as error:
        raise StoreError(f"{where}: {error}") from error
    computed = replace(
        stated,
        optimum=own.optimum,
        bracket=own.bracket,
        agents=tuple(
            replace(agent, **figures_of_run(game, policies))
            for agent, policies in zip(stated.agents, runs, strict=True)
        ),
        baselines=own.baselines,
        constant=stated.constant and own.constant,
    )
    check_record(stated, computed, where, tolerance)
    return computed


class Decisions:
    """The decisions of a player in a game.

    Args:
        game: The game.
        player: The player that decides, 0 or 1.

    Attributes:
        states: [C] the states in which there are several legal actions.
        mask: [C, A] the legal actions of these states.
    """

    kind: ClassVar[str]

    def __init__(self, game: TabularGame, player: int) -> None:
        self.game, self.player = game, player
        mask = game.mask[player] & ~game.terminal[:, None]
        count = mask.sum(axis=1)
        self.states: Ints = np.flatnonzero(count > 1)
        self.mask: Bools = mask[self.states]
        # Where there is one legal action it is taken.
        self._alone = np.where(count[:, None] == 1, mask, 0.0)

    def _policy(self, probabilities: NDArray[Any]) -> TabularPolicy:
        every = self._alone.copy()
        every[self.states] = probabilities
        return TabularPolicy.of(self.game, every, player=self.player, name=self.kind)

    def _refuse(self, wrong: NDArray[Any], what: Callable[[int], str]) -> None:
        if wrong.any():
            at = int(np.argmax(wrong))
            state = shown(self.game.states[int(self.states[at])])
            raise ValueError(f"{what(at)} state {state}")


class GreedyActions(Decisions):
    """A policy as the action that it takes in each decision.

    Attributes:
        kind: The policy that is packed, and the first part of its array's name.
        rounding: Largest difference of packed numbers that counts as rounding.
        length: Length of a packed policy: C here, and K where shares are kept.
        dtype: The type of these numbers.
    """

    kind, rounding = "greedy", 0

    def __init__(self, game: TabularGame, player: int) -> None:
        super().__init__(game, player)
        self.length = len(self.states)
        self.dtype = "uint16" if self.mask.shape[1] > 256 else "uint8"

    def packed(self, policies: Learned) -> NDArray[Any]:
        """Return the greedy action in each decision of a policy, [C]."""
        taken: Ints = policies.mode.probabilities[self.states].argmax(axis=1)
        return taken.astype(self.dtype)

    def unpacked(self, numbers: NDArray[Any]) -> Learned:
        """Return the policy that takes these actions [C].

        Raises:
            ValueError: If one is not legal.
        """
        legal = (np.arange(self.mask.shape[1]) == numbers[:, None]) & self.mask
        self._refuse(
            ~legal.any(axis=1), lambda at: f"takes the action {numbers[at]}, which is not legal, in"
        )
        policy = self._policy(legal)
        return Learned(policy, policy)


class SampledShares(Decisions):
    """A policy as shares of probability, of all legal actions of a state but the last.

    The attributes are those of :class:`GreedyActions`.
    """

    kind, rounding, dtype = "sampled", 1, "uint16"

    def __init__(self, game: TabularGame, player: int) -> None:
        super().__init__(game, player)
        places = np.arange(self.mask.shape[1])
        self._last = np.arange(len(self.states)), (self.mask * places).argmax(axis=1)
        self._kept = self.mask.copy()
        self._kept[self._last] = False
        self.length = int(self._kept.sum())

    def packed(self, policies: Learned) -> NDArray[Any]:
        """Return the shares of a policy that are kept, [K]; those of last actions follow."""
        exact = policies.sampled.normalized()[self.states] * UNIT
        shares = np.floor(exact)
        # The shares left over by rounding go to the largest remainders.
        left = UNIT - shares.sum(axis=1, keepdims=True)
        order = np.where(self.mask, shares - exact, 1.0).argsort(axis=1, kind="stable")
        shares += order.argsort(axis=1) < left
        return shares[self._kept].astype(self.dtype)

    def unpacked(self, numbers: NDArray[Any]) -> Learned:
        """Return the policy of these shares [K].

        Raises:
            ValueError: If those of a state exceed the whole.
        """
        shares = np.zeros(self.mask.shape, np.int64)
        shares[self._kept] = numbers
        left = UNIT - shares.sum(axis=1)
        self._refuse(left < 0, lambda at: f"gives shares that sum to {UNIT - left[at]} in")
        shares[self._last] = left
        policy = self._policy(shares / UNIT)
        return Learned(policy, policy.mode())


def decisions_of(game: TabularGame, players: Sequence[int]) -> list[GreedyActions | SampledShares]:
    """Return the decisions of each learned seat, by the policy by which its runs are judged."""
    kind = GreedyActions if len(players) == 1 else SampledShares
    return [kind(game, player) for player in players]


def write_policies(
    path: str | Path, task: str, game: TabularGame, runs: Mapping[int, Sequence[Learned]]
) -> None:
    """Write the policies of a task's runs.

    Args:
        path: Output file.
        task: Name of the task.
        game: The table on which they are scored.
        runs: Policies of each run by its seed, all of the same seats.

    Raises:
        StoreError: If the file cannot be written.
    """
    arrays: dict[str, NDArray[Any]] = {}
    seats = list(zip(*runs.values(), strict=True))
    decided = decisions_of(game, [policies[0].sampled.player for policies in seats])
    for seat, (own, policies) in enumerate(zip(decided, seats, strict=True)):
        arrays[f"{own.kind}_{seat}"] = np.array([own.packed(one) for one in policies])
    header = {"kind": KIND, "task": task, "model_hash": game.model_hash, "seeds": list(runs)}
    write_archive(path, header, arrays)


def read_policies(
    path: str | Path,
    task: str,
    game: TabularGame,
    players: Sequence[int],
    seeds: Sequence[int],
    wanted: Sequence[int] | None = None,
) -> dict[int, tuple[Learned, ...]]:
    """Read and check the policies of a task's runs.

    Args:
        path: A file written by :func:`write_policies`.
        task: The name that the file has to state.
        game: The table on which they are scored.
        players: The players whose policies each run has.
        seeds: Seeds of the runs, in their order.
        wanted: Seeds of the runs to unpack and check. Default: all.

    Raises:
        StoreError: If the file is missing, damaged, for another task, game or seeds, or its
            content is not policies of the game.
    """
    decided = {f"{own.kind}_{seat}": own for seat, own in enumerate(decisions_of(game, players))}
    stated = {"task": task, "model_hash": game.model_hash, "seeds": list(seeds)}
    schema = Schema(
        KIND,
        {name: type(value) for name, value in stated.items()},
        {name: ArraySchema(own.dtype, 2) for name, own in decided.items()},
    )

    def expected(header: dict[str, Any]) -> Shapes:
        for name, own in stated.items():
            if header[name] != own:
                raise ValueError(f"{name} is {shown(header[name])}; expected {shown(own)}")
        return {name: (len(seeds), own.length) for name, own in decided.items()}

    _, arrays = read_archive(path, schema, expected)
    found: dict[int, tuple[Learned, ...]] = {}
    for seed in seeds if wanted is None else wanted:
        row, policies = seeds.index(seed), []
        for seat, (name, own) in enumerate(decided.items()):
            try:
                policies.append(own.unpacked(arrays[name][row]))
            except ValueError as error:
                raise StoreError(f"{path}: seed {seed}, seat {seat}: {error}") from error
        found[seed] = tuple(policies)
    return found
