"""The work of the commands: from the words on a command line to what is printed.

Packages that take long to import are imported by the function that needs them.

**Scores.** ``solvent score`` scores policies and networks, also in games too large for a table.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from solvent import exact
from solvent.baselines import all_baselines, baselines_of, make_baseline
from solvent.baselines.environments import opponent_policy
from solvent.baselines.network import NetworkPlayer, load_network
from solvent.benchmark.progress import Bar, solving
from solvent.cli.parameters import (
    game_of_request,
    game_of_training,
    game_parameters,
    has_table,
    open_solution,
    read_game,
)
from solvent.cli.printing import (
    facts,
    score_json,
    show_score,
    show_solution,
    show_summary,
    show_training,
    solution_json,
)
from solvent.exact import SolvedGame
from solvent.exact import solve as solve_game
from solvent.exact.solver import layers_of
from solvent.model import Game, TabularGame, TabularPolicy, cached_table
from solvent.model.game import words
from solvent.model.parameters import brief, check_choice, shown
from solvent.model.registry import game_specs, load, meaning, spec_of
from solvent.model.text import game_text, precise
from solvent.model.transforms import DiscountedGame, discounted_policy
from solvent.registration import find_environment

if TYPE_CHECKING:
    from solvent.benchmark.suites import Suite, Task

# States of a game in layers that are solved without asking before it is played or shown.
_QUICK = 5_000_000


def _for_layers(options: Mapping[str, Any]) -> None:
    """Refuse options that are for games in layers."""
    if given := [name for name, value in options.items() if value]:
        option = f"--{given[0].replace('_', '-')}"
        raise ValueError(f"{option} is for games that are solved layer by layer")


def solve(
    game: str,
    words: Sequence[str],
    layer_options: Mapping[str, Any],
    *,
    tolerance: float,
    as_json: bool,
) -> None:
    """Solve a game and print its value.

    Args:
        game: The name of the game.
        words: The parameters written after it.
        layer_options: The arguments of :class:`~solvent.cli.layered.SolveOptions`.
        tolerance: Widest bracket accepted for a table; see :func:`solvent.exact.solve`.
        as_json: Whether to print JSON.

    Raises:
        ValueError: If there is no such game, or the options belong to another kind of game.
    """
    rules = read_game(game, words)
    layered = layers_of(rules)
    if layered is not None:
        from solvent.cli.layered import SolveOptions, solve_layered

        solve_layered(rules, layered, SolveOptions(**layer_options), as_json=as_json)
        return
    _for_layers(layer_options)
    with solving(game) as progress:
        solved = solve_game(rules, tolerance=tolerance, progress=progress)
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
    spec, layered = spec_of(rules), layers_of(rules)
    if spec is None or layered is None or layered.n_states <= _QUICK or is_kept(layered):
        return rules
    short = next(
        (
            f"try `{name}`, a short form, or "
            for name in spec.shorthands
            if (found := layers_of(read_game(name))) is None or found.n_states <= _QUICK
        ),
        "",
    )
    raise ValueError(
        f"{game} has {layered.n_states:,} states, which take minutes to solve; {short}solve it "
        f"once with `solvent solve {' '.join([game, *words])} --out DIR` and add --solution DIR"
    )


def opponent_of(rules: Game, name: str, player: int) -> TabularPolicy | None:
    """A policy for a side of a game: that of a file, or a baseline; None for the optimal one."""
    if has_table(rules):
        return opponent_policy(cached_table(rules), name, player)
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
    *,
    browser: bool,
) -> None:
    """Serve the pages about a game.

    Args:
        game: The name of the game, or the folder of a solution; all games if empty.
        words: The parameters written after it.
        address: The address and the port to listen on.
        solution: The folder of the game's solution; solved now if None.
        policy: The file of a policy that is compared with the optimum.
        browser: Whether the page is opened in a browser.

    Raises:
        ValueError: If there is no such game, or the options do not fit together.
    """
    from solvent.explore import Explorer, Library, serve

    if not game:
        if words or solution or policy:
            raise ValueError("which game? Name one before its options")
        serve(Library(), host=address[0], port=address[1], browser=browser, tell=typer.echo)
        return

    if solution is None and meaning(game)[0] not in game_specs() and Path(game).is_dir():
        solved: SolvedGame = open_solution(Path(game), words=words)
    elif solution is not None:
        solved = open_solution(solution, game, words)
    else:
        rules = quick_game(game, words)
        with solving(game) as progress:
            solved = solve_game(rules, progress=progress)
    explorer = Explorer(solved)
    if policy is not None:
        explorer.load(policy)
    serve(explorer, host=address[0], port=address[1], browser=browser, tell=typer.echo)


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
    with Bar("loading PyTorch"):
        from solvent.training import train as train_agent

    result = train_agent(environment, folder=out, env_kwargs=parameters, **settings)
    asked = game_of_request({"environment": environment, "env_kwargs": parameters})
    assert asked is not None
    show_training(Console(emoji=False), result, asked.info)


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
        environments: Environments in the place of a suite.
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

    tasks = _tasks_of_bench(suite, environments, timesteps, bool(algorithms), self_play=self_play)
    own = {name: one for file in settings for name, one in read_settings(file).items()}
    chosen = list(dict.fromkeys(algorithms)) or None
    record = run_bench(out, tasks, chosen, settings=own, **further)
    with Bar("making the page"):
        page = write_report(out, out / "report.html", summary=out)
    show_summary(Console(emoji=False), record.tasks)
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
) -> Suite | list[Task]:
    """The tasks of a bench: a suite or environments."""
    from solvent.benchmark.suites import Task, find_suite

    if environments:
        if suite is not None or not has_algorithms:
            raise ValueError("--env takes the place of --suite, and needs --algorithm NAME")
        return [
            Task(environment=name, self_play=self_play, timesteps=timesteps)
            for name in dict.fromkeys(environments)
        ]
    if self_play:
        raise ValueError("--self-play is for --env; the tasks of a suite say it themselves")
    found = find_suite(suite or "quick")
    return found if timesteps is None else found.with_timesteps(timesteps)


# Subject of the error message about an unknown name.
_SCORED = "the policy to score, which is not a file,"


def score_named(
    what: Path,
    game: str | None,
    words: Sequence[str],
    *,
    solution: Path | None,
    out: Path | None,
    mode: bool,
    top: int,
    tolerance: float,
    as_json: bool,
) -> None:
    """Score a policy by its file or its name, and print the score.

    Args:
        what: File of a policy or a network; or the name of a baseline or a player.
        game: The name of its game; None if the file or the solution records it.
        words: The parameters of the game.
        solution: The folder of a solution, for a game without a table.
        out: The folder for partial results, for a game without a table.
        mode: Whether to score the greedy policy.
        top: The number of losing states to show.
        tolerance: The error bound to prove, relative to the largest payoff.
        as_json: Whether to print JSON.

    Raises:
        ValueError: If there is no such policy or game, they do not fit together, or an option
            belongs to another kind of game.
        StoreError: If a file is missing, damaged, or made for another game.
    """
    is_name = not what.suffix and not what.exists()
    by_solution = is_name and solution is not None
    rules = None if game is None or by_solution else read_game(game, words)
    kind = "policy" if is_name else exact.read_header(what)["kind"]
    alone = is_name and (rules is None or not has_table(rules) or scored_alone(rules))
    if alone:
        solved = None if solution is None else open_solution(solution, game, words)
        rules = rules if solved is None else solved.game
        _check_known(str(what), rules, solved)
        if mode:
            raise ValueError(f"--mode is for policies in tables and for networks, not for {what}")
        _score_alone(rules, str(what), solved, solution, out, as_json=as_json)
        return
    if kind == "network":
        rules, player = _network_player(what, rules, mode=mode)
        _score_alone(rules, player, None, solution, out, as_json=as_json)
        return
    if kind != "policy":
        raise ValueError(f"{what}: holds a {brief(kind)}, not a policy")
    _for_layers({"out": out, "solution": solution})
    rules = game_of_training(what) if rules is None else rules
    if is_name:
        check_choice(str(what), _SCORED, baselines_of(rules))
    with solving(rules.info.name) as progress:
        table = cached_table(rules, progress=progress)
        policy = make_baseline(str(what), table) if is_name else _policy_in(what, rules, table)
        policy = policy.mode() if mode else policy
        optimum = exact.cached_solution(table, progress=progress)
        result = exact.score(table, policy, optimum, tolerance=tolerance)
        try:
            location = exact.locate_gap(table, policy, optimum, tolerance=tolerance)
        except exact.ImproperGameError:
            location = None
    if as_json:
        typer.echo(score_json(table, policy, optimum, result, location, top))
    else:
        show_score(Console(emoji=False), table, policy, optimum, result, location, top, rules)


def _policy_in(file: Path, rules: Game, table: TabularGame) -> TabularPolicy:
    """Load a policy; for a discounted game also one that was made for the undiscounted game."""
    if isinstance(rules, DiscountedGame):
        plain = cached_table(rules.game)
        if exact.read_header(file).get("model_hash") == plain.model_hash:
            return discounted_policy(exact.load_policy(file, plain), table)
    return exact.load_policy(file, table)


def _network_player(file: Path, asked: Game | None, *, mode: bool) -> tuple[Game, NetworkPlayer]:
    """Return the game on which a network was trained, and the network as its player."""
    request = exact.read_request(file)
    game = game_of_request(request)
    if game is None:
        raise ValueError(
            f"{file}: does not say on which game it was trained; its environment is "
            f"{shown(request['environment'])}"
        )
    if asked is not None:
        asked.info.check_same(game.info, str(file))
    player = load_network(file)
    if mode:
        player = replace(player, rule="mode", name=f"{player.name} (mode)")
    return game, player


def _check_known(name: str, rules: Game | None, solved: SolvedGame | None) -> None:
    """Refuse a name that is no player of a game."""
    if rules is not None and scored_alone(rules):
        return
    check_choice(name, _SCORED, all_baselines())
    if solved is None:
        raise ValueError(
            f"{name!r} is not a file; to score a baseline, give its game after it or --solution DIR"
        )


def scored_alone(game: Game) -> bool:
    """Return whether a one-player game can score its policies without a table."""
    spec = spec_of(game)
    return game.info.players == 1 and spec is not None and spec.scorer is not None


def _score_alone(
    game: Game | None,
    player: NetworkPlayer | str,
    solved: SolvedGame | None,
    solution: Path | None,
    out: Path | None,
    *,
    as_json: bool,
) -> None:
    """Score a player of a game without a table, and print the score.

    Against a best response the value of the optimal player must equal that of the game, up to the
    proved error. So both are shown if the game's solution is known.
    """
    assert game is not None
    spec = spec_of(game)
    if spec is None or spec.scorer is None:
        raise ValueError(f"{game.info.name} does not say how to score a player without a table")
    found = load(spec.scorer)(game, player, solution, out)
    proved = dict(found.bounds)
    if solved is not None:
        proved = {"value": solved.value, "proved to within": solved.upper - solved.value} | proved
    rows: dict[str, str]
    if game.info.players == 1:
        gap = found.optimum - found.value
        numbers = {"value": found.value, "optimum": found.optimum, "gap": gap}
        said = {name: precise(number) for name, number in numbers.items()}
        rows = {"policy": found.name, "game": game_text(game.info), **said}
    else:
        sides = [words(game).player_name(side) for side in (0, 1)]
        numbers = {
            "against": {name: [v.first, v.second, v.average] for name, v in found.against.items()},
            "exploitability": found.exploitability,
        }
        said = {
            f"against {opponent}": f"{precise(value.average)}  (as {sides[0]} "
            f"{precise(value.first)}, as {sides[1]} {precise(value.second)})"
            for opponent, value in found.against.items()
        }
        rows = {"player": found.name, **said, "exploitability": precise(found.exploitability)}
    if as_json:
        typer.echo(json.dumps({"name": found.name, **numbers, **proved}, indent=2))
    else:
        bounds = {name: f"{number:.9g}" for name, number in proved.items()}
        Console(emoji=False).print(facts(rows | bounds))
