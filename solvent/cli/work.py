"""The work of the commands: from the words on a command line to what is printed.

Packages that take long to import are imported by the function that needs them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from solvent.cli.groups import interruptible
from solvent.cli.parameters import (
    game_of_request,
    game_parameters,
    has_table,
    open_solution,
    read_game,
)
from solvent.cli.printing import show_results, show_solution, show_training, solution_json
from solvent.cli.terminal import solving, working
from solvent.exact import SolvedGame, SolvedTable, cached_solution
from solvent.exact import solve as solve_game
from solvent.model import Game, TabularPolicy, cached_table
from solvent.model.parameters import check_choice
from solvent.model.registry import game_specs, meaning, spec_of
from solvent.registration import find_environment

if TYPE_CHECKING:
    from solvent.benchmark.suites import Setting, Suite, Task

QUICK = 5_000_000
"""States of a game in layers that are solved without asking before it is played or shown."""


def solve(
    game: str,
    words: Sequence[str],
    save: Path | None,
    layer_options: Mapping[str, Any],
    *,
    tolerance: float,
    as_json: bool,
) -> None:
    """Solve a game and print its value.

    Args:
        game: The name of the game.
        words: The parameters written after it.
        save: The file for the solution of the game's table.
        layer_options: The arguments of :class:`~solvent.cli.layered.SolveOptions`.
        tolerance: Widest bracket accepted for a table; see :func:`solvent.exact.solve`.
        as_json: Whether to print JSON.

    Raises:
        ValueError: If there is no such game, or the options belong to another kind of game.
    """
    rules = read_game(game, words)
    spec = spec_of(rules)
    layered = None if spec is None else spec.ask("layered", rules)
    if layered is not None and save is not None and not has_table(rules):
        raise ValueError("--save is for games that fit in a table; use --out DIR")
    if layered is not None and save is None:
        from solvent.cli.layered import SolveOptions, solve_layered

        solve_layered(rules, layered, SolveOptions(**layer_options), as_json=as_json)
        return
    for name, value in layer_options.items():
        if value:
            why = "does not go with --save, which saves the solution of a table"
            why = "is for games that are solved layer by layer" if layered is None else why
            raise ValueError(f"--{name.replace('_', '-')} {why}")
    with solving(game) as progress:
        if save is None:
            solved: SolvedGame = solve_game(rules, tolerance=tolerance, progress=progress)
        else:
            from solvent.exact import save_solution

            # The saved solution is that of a table, also of a game with a faster way.
            table = cached_table(rules, progress=progress)
            solution = cached_solution(table, tolerance=tolerance, progress=progress)
            solved = SolvedTable(rules, table, solution)
            save_solution(save, solved.solution)
    if as_json:
        typer.echo(solution_json(solved))
    else:
        show_solution(Console(emoji=False), solved)


def quick_game(game: str, words: Sequence[str]) -> Game:
    """Return the game that is named, unless solving it would take minutes that nobody asked for.

    Raises:
        ValueError: If it would, or there is no such game; the message offers a short form.
    """
    from solvent.exact.layered.solve import is_kept

    rules = read_game(game, words)
    spec = spec_of(rules)
    layered = None if spec is None else spec.ask("layered", rules)
    if spec is None or layered is None or layered.n_states <= QUICK or is_kept(layered):
        return rules
    short = next(
        (
            f"try `{name}`, a short form, or "
            for name in spec.shorthands
            if (found := spec.ask("layered", read_game(name))) is None or found.n_states <= QUICK
        ),
        "",
    )
    raise ValueError(
        f"{game} has {layered.n_states:,} states, which take minutes to solve; {short}solve it "
        f"once with `solvent solve {' '.join([game, *words])} --out DIR` and add --solution DIR"
    )


def opponent_of(rules: Game, name: str, player: int) -> TabularPolicy | None:
    """A policy for a side of a game: that of a file, or a baseline; None for the optimal one."""
    from solvent.baselines import make_baseline
    from solvent.exact import load_policy

    if has_table(rules):
        table = cached_table(rules)
        if name.endswith(".npz"):
            return load_policy(name, table)
        return make_baseline(name, table, player=player)
    if name != "optimal":
        raise ValueError(
            "--against is for games that fit in a table; here the opponent is the optimal one"
        )
    return None


def explore(
    game: str,
    words: Sequence[str],
    address: tuple[str, int],
    solution: Path | None,
    policy: Path | None,
    export: Path | None,
    replay: str | None,
    *,
    browser: bool,
) -> None:
    """Serve the pages about a game, or write one of them as a file.

    Args:
        game: The name of the game, or the folder of a solution; all games if empty.
        words: The parameters written after it.
        address: The address and the port to listen on.
        solution: The folder of the game's solution; solved now if None.
        policy: The file of a policy that is compared with the optimum.
        export: The file to write; None to serve the pages.
        replay: The episode to write there; None for the maps.
        browser: Whether the page is opened in a browser.

    Raises:
        ValueError: If there is no such game, or the options do not fit together.
    """
    from solvent.explore import Explorer, Library, serve, write_map, write_replay
    from solvent.explore.explorer import read_export

    if not game:
        if words or solution or policy or export or replay:
            raise ValueError("which game? Name one before its options")
        serve(Library(), host=address[0], port=address[1], browser=browser, tell=typer.echo)
        return

    if replay is not None and export is None:
        raise ValueError("--replay is for --export FILE, the page to be written")
    if export is not None:
        read_export(export, replay)
    if solution is None and meaning(game)[0] not in game_specs() and Path(game).is_dir():
        solved = open_solution(Path(game), words=words)
    elif solution is not None:
        solved = open_solution(solution, game, words)
    else:
        rules = quick_game(game, words)
        with solving(game) as progress:
            solved = solve_game(rules, progress=progress)
    if export is None:
        explorer = Explorer(solved)
        if policy is not None:
            explorer.load_file(policy)
        serve(explorer, host=address[0], port=address[1], browser=browser, tell=typer.echo)
    elif replay is None:
        typer.echo(f"{write_map(solved, export)} written")
    else:
        typer.echo(f"{write_replay(solved, export, replay)} written")


def train(
    game: str, words: Sequence[str], of_env: Mapping[str, Any], out: Path, **settings: Any
) -> None:
    """Train a network on a game and print its exact score.

    Args:
        game: The name of the game.
        words: The parameters written after it.
        of_env: The arguments of the environment; None is left to it.
        out: The folder for everything written.
        settings: The arguments of :func:`solvent.training.train`.

    Raises:
        ValueError: If there is no such game or algorithm, or an option is not allowed.
    """
    further = [f"--{name}={value}" for name, value in of_env.items() if value is not None]
    environment, parameters = find_environment(game, game_parameters(game, [*words, *further]))
    with working("loading PyTorch"):
        from solvent.training import train as train_agent

    with interruptible(f"checkpoints are kept in {out}; the same command goes on from the last"):
        result = train_agent(environment, folder=out, env_kwargs=parameters, **settings)
    asked = game_of_request({"environment": environment, "env_kwargs": parameters})
    show_training(Console(emoji=False), result, None if asked is None else asked.info)


def bench(
    suite: str | None,
    environments: Sequence[str],
    algorithms: Sequence[str],
    timesteps: int | None,
    out: Path,
    *,
    self_play: bool,
    settings: Sequence[Path],
    **further: Any,
) -> None:
    """Run a bench, print its results, and write its page.

    Args:
        suite: The name or the file of a suite.
        environments: Environments in the place of a suite, or some of its environments.
        algorithms: The algorithms; those of the suite if there are none.
        timesteps: The budget of a run, if another than the suite's.
        out: The folder for everything written.
        self_play: Whether both seats of the environments are learned.
        settings: Files of settings of the algorithms.
        further: Further arguments of :func:`solvent.benchmark.bench.bench`.

    Raises:
        ValueError: If there is no such suite or algorithm, or the options do not fit together.
        typer.Exit: With code 1, if a run failed.
    """
    from solvent.benchmark.bench import bench as run_bench
    from solvent.benchmark.suites import read_settings
    from solvent.report import write_report

    tasks, own = _tasks_of_bench(
        suite, environments, timesteps, bool(algorithms), self_play=self_play
    )
    for file in settings:
        own |= read_settings(file)
    with interruptible(f"what is done is kept in {out}; the same command goes on from there"):
        record = run_bench(
            out,
            tasks,
            list(dict.fromkeys(algorithms)) or None,
            settings=own,
            **further,
        )
        with working("making the page"):
            page = write_report(out, out / "report.html", summary=out)
    show_results(Console(emoji=False), record.tasks)
    typer.echo(f"\nreport: {page}")
    for failure in record.failures:
        typer.echo(
            f"failed: {failure.task} {failure.algorithm} {failure.seed}: {failure.error}", err=True
        )
    if record.failures:
        raise typer.Exit(1)


def _tasks_of_bench(
    suite: str | None,
    environments: Sequence[str],
    timesteps: int | None,
    has_algorithms: bool,
    *,
    self_play: bool,
) -> tuple[Suite | list[Task], dict[str, Setting]]:
    """The tasks of a bench: a suite, some of its tasks, or environments; and a suite's settings."""
    from solvent.benchmark.suites import Task, find_suite

    if suite is None and environments:
        if not has_algorithms:
            raise ValueError("--env needs --algorithm NAME, which may be repeated")
        return [
            Task(environment=name, self_play=self_play, timesteps=timesteps)
            for name in dict.fromkeys(environments)
        ], {}
    if self_play:
        raise ValueError("--self-play is for --env; the tasks of a suite say it themselves")
    found = find_suite(suite or "quick")
    if timesteps is not None:
        found = found.with_timesteps(timesteps)
    known = list(dict.fromkeys(task.environment for task in found.tasks))
    for name in environments:
        check_choice(name, f"environment of the suite {found.name}", known)
    chosen = [task for task in found.tasks if task.environment in environments]
    return chosen if environments else found, dict(found.algorithms)
