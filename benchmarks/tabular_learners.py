"""Measure the exact exploitability of tabular learners in games for two.

Two parts; `--part` chooses among them.

- `sweeps`: regret matching, fictitious play and mirror descent in the stage game of every state
  (`solvent.baselines.stage_games`). They are told the model and draw no random numbers, so that
  there are no seeds.
- `samples`: learners that are not told it. Minimax-Q in self-play, most of whose episodes are
  exploring starts from all states alike, and the optimum of a model learned from samples of every
  joint action (`learned_model.py`). A row has the statistics of all seeds.

Figures are means over both seats. CPU seconds are those of learning, without compilation of the
loops and scores, and depend on the machine, so compare them within one run.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np
from learned_model import learned_model
from rich.console import Console
from rich.table import Table

from solvent.baselines.q_learning import MinimaxQ
from solvent.baselines.stage_games import (
    FictitiousPlay,
    MirrorDescentSweeps,
    RegretMatching,
    StageLearner,
)
from solvent.benchmark.statistics import interquartile_mean
from solvent.exact import cached_solution, solve
from solvent.exact.scoring import learned_exploitability
from solvent.games.greed.rules import Greed
from solvent.model import TabularGame, TabularPolicy, compile_game
from solvent.training.environments import exploring_starts, free_choice

SWEEPING: dict[str, Callable[[TabularGame], StageLearner]] = {
    "regret-matching": partial(RegretMatching, plus=False),
    "regret-matching+": RegretMatching,
    "fictitious-play": FictitiousPlay,
    "mirror-descent": MirrorDescentSweeps,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", nargs="+", choices=PARTS, default=list(PARTS))
    parser.add_argument("--games", nargs="+", default=["20,4", "100,6"], help="limit,sides")
    parser.add_argument("--sweeps", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--moves", type=int, nargs="*", default=[1_000_000, 10_000_000])
    parser.add_argument(
        "--exploring", type=float, default=0.9, help="share of Minimax-Q's episodes"
    )
    parser.add_argument("--samples", type=int, nargs="*", default=[10, 100])
    parser.add_argument("--seeds", type=int, default=10)
    arguments = parser.parse_args()
    warm_up()
    for text in arguments.games:
        game = compile_game(Greed(*map(int, text.split(","))))
        for part in arguments.part:
            Console(width=120).print(PARTS[part](arguments, text, game))


def warm_up() -> None:
    """Compile the loops."""
    game = compile_game(Greed(4, 2))
    for make in (*SWEEPING.values(), MinimaxQ):
        make(game).learn(1)
    solve(learned_model(game, 1))


def sweeps(arguments: argparse.Namespace, text: str, game: TabularGame) -> Table:
    table = Table(title=f"Greed {text}, told the model: exploitability; CPU s")
    table.add_column("sweeps")
    for number in arguments.sweeps:
        table.add_column(f"{number:,}", justify="right")
    for name, make in SWEEPING.items():
        cells = (f"{loss:.6f}; {seconds:.1f}" for loss, seconds in watched(make(game), arguments))
        table.add_row(name, *cells)
    return table


def watched(learner: StageLearner, arguments: argparse.Namespace) -> Iterator[tuple[float, float]]:
    """Exploitability after each number of sweeps, and the CPU seconds until then."""
    seconds = 0.0
    for done, wanted in pairwise([0, *arguments.sweeps]):
        begin = time.process_time()
        learner.learn(wanted - done)
        seconds += time.process_time() - begin
        yield lost(learner.game, [learner.policy(p).probabilities for p in (0, 1)]), seconds


def samples(arguments: argparse.Namespace, text: str, game: TabularGame) -> Table:
    table = Table(title=f"Greed {text}, not told the model: {arguments.seeds} seeds")
    for name in ("learner", "samples", "mean", "median", "IQM", "least to most", "CPU s"):
        table.add_column(name, justify="right")
    play = partial(minimax_q, arguments.exploring)
    jobs = [("minimax-q", play, moves, moves) for moves in arguments.moves]
    jobs += [("learned model", certain, n, n * game.n_rows) for n in arguments.samples]
    for name, learn, number, total in jobs:
        runs = [learn(game, number, seed) for seed in range(arguments.seeds)]
        losses = np.array([loss for loss, _ in runs])
        mean, median, middle = losses.mean(), np.median(losses), interquartile_mean(losses)
        figures = (f"{figure:.4f}" for figure in (mean, median, float(middle)))
        spread = f"{losses.min():.4f} to {losses.max():.4f}"
        cpu = f"{np.mean([seconds for _, seconds in runs]):.1f}"
        table.add_row(name, f"{total:,}", *figures, spread, cpu)
    return table


def minimax_q(share: float, game: TabularGame, moves: int, seed: int) -> tuple[float, float]:
    """Exploitability of Minimax-Q after so many moves, and the CPU seconds.

    A share of the episodes are exploring starts.
    """
    begin = time.process_time()
    learner = MinimaxQ(exploring_starts(game, share, free_choice(game)), seed=seed)
    learner.learn(moves)
    seconds = time.process_time() - begin
    return lost(game, [learner.policy(p).probabilities for p in (0, 1)]), seconds


def certain(game: TabularGame, number: int, seed: int) -> tuple[float, float]:
    """Exploitability of the optimum of a learned model, and the CPU seconds."""
    begin = time.process_time()
    found = solve(learned_model(game, number, seed=seed))
    seconds = time.process_time() - begin
    return lost(game, [found.policies[p].probabilities for p in (0, 1)]), seconds


def lost(game: TabularGame, probabilities: list[np.ndarray]) -> float:
    """The mean exploitability of both seats' policies in the game."""
    solution = cached_solution(game)
    policies = (
        TabularPolicy.of(game, own, player=player) for player, own in enumerate(probabilities)
    )
    return sum(learned_exploitability(game, policy, solution) for policy in policies) / 2


PARTS: dict[str, Callable[[argparse.Namespace, str, TabularGame], Table]] = {
    "sweeps": sweeps,
    "samples": samples,
}


if __name__ == "__main__":
    main()
