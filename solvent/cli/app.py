"""The commands. Each imports slow packages only when it runs."""

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from solvent import __version__
from solvent.cli.groups import MORE, GameCommand, MainGroup
from solvent.cli.judging import grade, leaderboard, submit
from solvent.model.parameters import check_choice, shown

app = typer.Typer(
    cls=MainGroup,
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

TAKES_PARAMETERS: dict[str, Any] = {
    "cls": GameCommand,
    "context_settings": {"allow_extra_args": True, "ignore_unknown_options": True},
    "epilog": (
        "Every other option is a parameter of the game: [bold]--target 20[/], "
        "[bold]--luck 2:12[/] for a range, or JSON. "
        "[bold]solvent list GAME[/] shows them. "
        "[bold]--discount 0.9[/] discounts the rewards of any game that has a table."
    ),
}

Game = Annotated[
    str,
    typer.Argument(
        metavar="GAME",
        help="A game or environment from `solvent list`, a Gymnasium environment "
        "that publishes its transitions, such as FrozenLake-v1, or your own game, "
        "`module:Class` or `file.py`.",
    ),
]
# Options under a heading of their own.
layer_option = partial(typer.Option, rich_help_panel="Games solved layer by layer")
env_option = partial(typer.Option, rich_help_panel="The environment")

Solved = Annotated[
    Path | None,
    layer_option(metavar="DIR", help="Folder written by `solve --out DIR`. Default: solve now."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
Learner = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="ppo, a2c, trpo, dqn, qr_dqn, maskable_ppo or masked_dqn; with --self-play also "
        "mirror_descent.",
    ),
]
ExploringStarts = Annotated[
    float | None,
    typer.Option(
        "--exploring-starts",
        metavar="SHARE",
        help="Share of episodes, 0 to 1, that start in a random state. Default: as tuned.",
    ),
]
StartWeights = Annotated[
    str,
    typer.Option(
        metavar="uniform|importance",
        help="Distribution of exploring starts: uniform, or in proportion to how much the choice "
        "matters in a state, which shows the solution to the learner.",
    ),
]
PolicyFile = Annotated[
    Path,
    typer.Argument(
        metavar="POLICY",
        help="policy.npz or network.npz of `train`, or the name of a baseline, such as uniform.",
    ),
]
Tolerance = Annotated[
    float,
    typer.Option(
        metavar="X",
        min=0,
        help="Largest width of a best response's bracket, relative to the largest payoff.",
    ),
]


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"solvent {__version__}")
        raise typer.Exit


@app.callback()
def solvent(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of errors.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Reinforcement-learning environments with known solutions."""


@app.command("list")
def list_(
    game: Annotated[
        str | None, typer.Argument(metavar="GAME", help="Game whose parameters to show.")
    ] = None,
) -> None:
    """Show games, environments, baselines and algorithms, or the parameters of one game."""
    from solvent.cli.parameters import show_game, show_games
    from solvent.envs.registration import ENVIRONMENTS
    from solvent.model.registry import find_spec, meaning

    console = Console(emoji=False)
    if game is None:
        show_games(console)
    else:
        show_game(console, find_spec(game), game, ENVIRONMENTS.get(game), meaning(game)[1])


@app.command(**TAKES_PARAMETERS)
def solve(
    ctx: typer.Context,
    game: Game,
    json: Json = False,
    tolerance: Annotated[
        float,
        typer.Option(
            metavar="X",
            min=0,
            help="Largest width of the bracket, relative to the largest value. 0 asks for the "
            "narrowest that floats allow.",
        ),
    ] = 1e-9,
    out: Annotated[
        Path | None,
        layer_option(metavar="DIR", help="Folder for the solution; continues what is there."),
    ] = None,
    threads: Annotated[
        int | None, layer_option(min=1, help="Number of threads. Default: number of processors.")
    ] = None,
    on: Annotated[
        str | None,
        layer_option(
            metavar="ADDRESS", help="Solve on a Ray cluster: HOST:PORT, auto or ray://HOST:PORT."
        ),
    ] = None,
    keep: Annotated[
        str | None,
        layer_option(
            metavar="WHAT",
            help="Values to keep: all; compact, which rounds them to two bytes; or start, "
            "only those of the first layer.",
        ),
    ] = None,
    plan: Annotated[
        bool, layer_option("--plan", help="Only print the disk, memory, traffic and time needed.")
    ] = False,
    spot_check: Annotated[
        int | None,
        layer_option(
            min=1,
            metavar="N",
            help="Only solve N random states in DIR again from the rules.",
        ),
    ] = None,
    force: Annotated[
        bool,
        layer_option("--force", help="Start even if disk or memory seems too small."),
    ] = False,
) -> None:
    """Solve a game exactly: value, proved bracket and the best choices at the start.

    [dim]solvent solve ff-combat --opponent hell-demon --stamina 24 --luck 12[/]
    [dim]solvent solve football-strategy --form half --out half[/]
    """
    from solvent.cli.work import solve as solve_named

    options = {
        "out": out,
        "threads": threads,
        "on": on,
        "keep": keep,
        "plan": plan,
        "spot_check": spot_check,
        "force": force,
    }
    solve_named(
        game,
        ctx.args,
        options,
        tolerance=tolerance,
        as_json=json,
    )


@app.command(**TAKES_PARAMETERS)
def play(
    ctx: typer.Context,
    game: Game,
    player: Annotated[int, typer.Option(help="Your side in a two-player game, 0 or 1.")] = 0,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Your opponent in a two-player game: a baseline or a policy file. Default: "
            "optimal.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the dice.")] = None,
    solution: Solved = None,
) -> None:
    """Play a game in the terminal; ? asks for advice, and the end shows what each choice cost.

    Solutions that took long are cached, unless SOLVENT_CACHE is off.

    [dim]solvent play ff-combat --luck 12[/]
    [dim]solvent play book my-book.yaml[/]
    [dim]solvent play football --solution half[/]
    """
    from solvent.benchmark.progress import solving
    from solvent.cli.parameters import open_solution
    from solvent.cli.work import opponent_of, quick_game
    from solvent.play import play as play_game

    solved = None if solution is None else open_solution(solution, game, ctx.args)
    rules = quick_game(game, ctx.args) if solved is None else solved.game
    play_game(
        solved or rules,
        player=player,
        opponent=None if against is None else opponent_of(rules, against, 1 - player),
        seed=seed,
        solving=lambda: solving(f"{game} first"),
    )


@app.command(**TAKES_PARAMETERS)
def explore(
    ctx: typer.Context,
    game: Annotated[
        str,
        typer.Argument(
            metavar="[GAME]",
            help="Game to explore, or a folder of `solve --out`. Default: a gallery of all games.",
            show_default=False,
        ),
    ] = "",
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 0,
    browser: Annotated[bool, typer.Option(help="Whether to open the page in a browser.")] = True,
    policy: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A policy to compare with the optimum (.npz)."),
    ] = None,
    solution: Solved = None,
) -> None:
    """Explore games in the browser: a board on which every move has its exact value.

    By default no other machine can reach the page.

    [dim]solvent explore[/]
    [dim]solvent explore greed --limit 20 --sides 4[/]
    """
    from solvent.cli.work import explore as explore_named

    address = host, port
    explore_named(game, ctx.args, address, solution, policy, browser=browser)


@app.command(**TAKES_PARAMETERS)
def train(
    ctx: typer.Context,
    game: Game,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for everything written.")],
    algorithm: Learner = "ppo",
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = 0,
    timesteps: Annotated[
        int | None, typer.Option(metavar="N", help="Environment steps. Default: as tuned.")
    ] = None,
    exploring_starts: ExploringStarts = None,
    start_weights: StartWeights = "uniform",
    self_play: Annotated[
        bool, typer.Option("--self-play", help="Learn both seats of a two-player game.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Start again instead of continuing.")
    ] = False,
    opponent: Annotated[
        str | None,
        env_option(
            metavar="NAME|FILE",
            help="Opponent in a two-player game: a baseline or a policy file. Default: the "
            "environment's. Some games have a parameter of this name.",
        ),
    ] = None,
    seat: Annotated[
        str | None,
        env_option(
            metavar="0|1|random", help="The learner's seat in a two-player game. Default: 0."
        ),
    ] = None,
    observation: Annotated[
        str | None,
        env_option(
            metavar="KIND",
            help="Observation: vector, onehot or index. Default: as tuned.",
        ),
    ] = None,
    illegal: Annotated[
        str | None,
        env_option(
            metavar="remap|raise",
            help="Replace an illegal action by the lowest legal one, or raise an error.",
        ),
    ] = None,
    solution: Annotated[
        Path | None,
        env_option(
            metavar="DIR",
            help="Folder written by `solve --out DIR`, for an optimal opponent in a game without a "
            "table.",
        ),
    ] = None,
) -> None:
    """Train a network on a game, with its exact gap at every checkpoint.

    Repeat the command to continue after an interruption.

    [dim]solvent train ff-combat --luck 12 --algorithm dqn --out runs/combat[/]
    [dim]solvent train pig --target 20 --opponent uniform --out runs/pig[/]
    """
    from solvent.cli.work import train as train_named

    train_named(
        game,
        ctx.args,
        {
            "opponent": opponent,
            "seat": seat,
            "observation": observation,
            "illegal": illegal,
            "solution": solution,
        },
        out,
        algorithm=algorithm,
        self_play=self_play,
        seed=seed,
        timesteps=timesteps,
        exploring_starts=exploring_starts,
        start_weights=start_weights,
        resume=not fresh,
    )


@app.command(**TAKES_PARAMETERS)
def score(
    ctx: typer.Context,
    policy_file: PolicyFile,
    game: Annotated[
        str | None,
        typer.Argument(
            metavar="GAME", help="Game of the policy. Files of `solvent train` contain it."
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of losing states to show.")
    ] = 10,
    mode: Annotated[
        bool,
        typer.Option(
            "--mode", help="Score the greedy policy: the most probable action of every state."
        ),
    ] = False,
    solution_folder: Annotated[
        Path | None,
        layer_option("--solution", metavar="DIR", help="Folder written by `solve --out DIR`."),
    ] = None,
    out: Annotated[
        Path | None,
        layer_option(
            metavar="DIR",
            help="Folder for intermediate results; the same command continues from there.",
        ),
    ] = None,
    tolerance: Tolerance = 1e-9,
    json: Json = False,
) -> None:
    """Score a policy exactly: value, gap, and the states in which the gap is lost.

    [dim]solvent score runs/pig/policy_mode.npz[/]
    [dim]solvent score uniform pig --target 20[/]
    """
    from solvent.cli.work import score_named

    score_named(
        policy_file,
        game,
        ctx.args,
        solution=solution_folder,
        out=out,
        mode=mode,
        top=top,
        tolerance=tolerance,
        as_json=json,
    )


@app.command(rich_help_panel=MORE)
def bench(
    *,
    suite: Annotated[
        str | None,
        typer.Option(metavar="NAME|FILE", help="Name or file of a suite. Default: `quick`."),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="Environment instead of a suite. May be repeated.",
        ),
    ] = None,
    self_play: Annotated[
        bool, typer.Option("--self-play", help="With --env: learn both seats.")
    ] = False,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Algorithm: a name, module:function or file.py:function. Default: "
            "the suite's. May be repeated.",
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Runs of each algorithm on each task.")
    ] = None,
    timesteps: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Budget instead of the suite's."),
    ] = None,
    settings: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="File of the algorithms' settings, as benchmarks/tune.py writes it, instead of "
            "the suite's. May be repeated.",
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(metavar="N", min=1, help="Number of runs at the same time.")
    ] = 2,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Ray cluster for the runs: HOST:PORT, auto or ray://HOST:PORT.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for everything written.")],
) -> None:
    """Compare algorithms on a suite: train, score exactly, and write a report.

    [dim]solvent bench --out results[/]
    [dim]solvent bench --suite core --seeds 10 --out core[/]
    [dim]solvent bench --env FrozenLake-v1 --algorithm my_file.py:mine --timesteps 100000 --out
    mine[/]

    Repeat the command to continue after an interruption.
    """
    from solvent.cli.work import bench as run_bench

    run_bench(
        suite,
        env or (),
        algorithm or (),
        timesteps,
        out,
        self_play=self_play,
        settings=settings or (),
        seeds=seeds,
        workers=workers,
        on=on,
    )


@app.command(rich_help_panel=MORE, **TAKES_PARAMETERS)
def report(
    ctx: typer.Context,
    results: Annotated[
        Path | None,
        typer.Option("--in", metavar="DIR", help="A folder that `solvent bench` wrote."),
    ] = None,
    summary: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="With --in: folder for a summary as CSV and JSON.",
        ),
    ] = None,
    game: Annotated[
        str | None,
        typer.Option("--game", metavar="GAME", help="Game to solve, without training."),
    ] = None,
    solution: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder written by `solve --out DIR`.")
    ] = None,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path(
        "report.html"
    ),
) -> None:
    """Write a self-contained HTML page about benchmark results, a game, or a solution.

    [dim]solvent report --game greed --limit 50 --sides 6 --out greed.html[/]
    [dim]solvent report --solution second-half --out second-half.html[/]
    """
    from solvent.benchmark.progress import Bar
    from solvent.cli.parameters import open_solution, read_game
    from solvent.report import write_report

    named = 3 - [results, game, solution].count(None)
    if not named and ctx.args:
        check_choice(ctx.args[0].removeprefix("--"), "parameter", ())
    if named != 1:
        raise ValueError(
            "name one of the three: --in DIR for a bench, --game GAME for a game, or "
            "--solution DIR for a game that is solved layer by layer"
        )
    if results is not None and ctx.args:
        raise ValueError(f"{shown(ctx.args[0])} belongs to a game; --in DIR takes no parameters")
    subject: Any = results
    if solution is not None:
        subject = open_solution(solution, words=ctx.args)
    elif game is not None:
        subject = read_game(game, ctx.args)
    with Bar("making the page"):
        page = write_report(subject, out, summary=summary)
    typer.echo(f"report: {page}")


app.command(rich_help_panel=MORE)(grade)
app.add_typer(submit, name="submit", rich_help_panel=MORE)
app.command(rich_help_panel=MORE)(leaderboard)
