"""The commands. What takes long to import is imported by the command that needs it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from solvent import __version__
from solvent.cli.grading import grade
from solvent.cli.groups import MORE, GameCommand, MainGroup
from solvent.cli.submissions import leaderboard, submit

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
        help="A game or an environment that `solvent list` shows, or a Gymnasium environment "
        "that publishes its transitions, such as FrozenLake-v1; or where to find a game, "
        "`module:Class` or `file.py`.",
    ),
]
LAYER_BY_LAYER = "Games that are solved layer by layer"
"""The heading of the options of `solve` that are for games too large for a table."""

ENVIRONMENT = "The environment"
"""The heading of the options of `train` that are arguments of the environment."""

FILES = "Pages and pictures as files"
"""The heading of the options of `explore` that write files."""

NETWORK = "A network of Stable-Baselines3, .zip"
"""The heading of the options of `score` that are for such a file."""

layer_option = partial(typer.Option, rich_help_panel=LAYER_BY_LAYER)
env_option = partial(typer.Option, rich_help_panel=ENVIRONMENT)
file_option = partial(typer.Option, rich_help_panel=FILES)
network_option = partial(typer.Option, rich_help_panel=NETWORK)

Solved = Annotated[
    Path | None,
    layer_option(metavar="DIR", help="What `solve --out DIR` has solved; solved now if left out."),
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
        help="Share of episodes, 0 to 1, that begin elsewhere than the game does; as tuned if "
        "left out.",
    ),
]
StartWeights = Annotated[
    str,
    typer.Option(
        metavar="uniform|importance",
        help="How exploring starts are drawn: each state as likely as any other, or in "
        "proportion to how much the choice matters there, which shows the solution to the "
        "learner.",
    ),
]
PolicyFile = Annotated[
    Path,
    typer.Argument(
        metavar="POLICY",
        help="What `train` has saved, policy.npz or network.npz; or a .zip of "
        "Stable-Baselines3; or the name of a baseline, such as uniform.",
    ),
]
Tolerance = Annotated[
    float,
    typer.Option(
        metavar="X",
        min=0,
        help="Refuse a best response that is not proved to within this times the largest payoff.",
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
        str | None, typer.Argument(metavar="GAME", help="A game, to see its parameters.")
    ] = None,
) -> None:
    """Show games, environments, baselines and algorithms, or the parameters of one game."""
    from solvent.cli.listing import show_game, show_games
    from solvent.cli.parameters import environments
    from solvent.model.registry import find_spec, meaning

    console = Console(emoji=False)
    if game is None:
        show_games(console)
    else:
        environment = environments().get(game, (None, None))[1]
        show_game(console, find_spec(game), game, environment, meaning(game)[1])


@app.command(**TAKES_PARAMETERS)
def solve(
    ctx: typer.Context,
    game: Game,
    save: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Save the solution (.npz).")
    ] = None,
    json: Json = False,
    tolerance: Annotated[
        float,
        typer.Option(
            metavar="X",
            min=0,
            help="Refuse a table's bracket that is wider than this times the largest value. 0 "
            "accepts any, as narrow as floats allow.",
        ),
    ] = 1e-9,
    out: Annotated[
        Path | None,
        layer_option(
            metavar="DIR", help="Keep the solution in a folder, and go on with what is there."
        ),
    ] = None,
    threads: Annotated[
        int | None, layer_option(min=1, help="As many as there are processors.")
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
            help="Which values to keep: all; compact, which rounds them to two bytes; or start, "
            "those of the layer in which the game begins.",
        ),
    ] = None,
    plan: Annotated[
        bool, layer_option("--plan", help="Only say what it takes: disk, memory, traffic and time.")
    ] = False,
    verify: Annotated[bool, layer_option("--verify", help="Check all files in DIR now.")] = False,
    spot_check: Annotated[
        int | None,
        layer_option(
            min=1,
            metavar="N",
            help="Only solve N random states in DIR again, from the rules; the manifest is enough.",
        ),
    ] = None,
    force: Annotated[
        bool,
        layer_option("--force", help="Begin although there seems to be too little disk or memory."),
    ] = False,
) -> None:
    """Solve a game exactly: value, certified bracket and the best choices at the start.

    [dim]solvent solve ff-combat --opponent hell-demon --stamina 24 --luck 12[/]
    [dim]solvent solve football-strategy --form half --out half[/]
    """
    from solvent.cli.work import solve as solve_named

    options = {"out": out, "threads": threads, "on": on, "keep": keep, "plan": plan}
    options |= {"verify": verify, "spot_check": spot_check, "force": force}
    solve_named(game, ctx.args, save, options, tolerance=tolerance, as_json=json)


@app.command(**TAKES_PARAMETERS)
def play(
    ctx: typer.Context,
    game: Game,
    player: Annotated[int, typer.Option(help="Your side in a game for two, 0 or 1.")] = 0,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="Your opponent in a game for two: a baseline or a policy file; optimal if left "
            "out.",
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of the dice.")] = None,
    hints: Annotated[bool, typer.Option(help="Whether ? shows the value of each action.")] = True,
    solution: Solved = None,
) -> None:
    """Play a game in the terminal; ? asks for advice, and the end shows what each choice cost.

    Solutions that took long are kept; SOLVENT_CACHE=off keeps none.

    [dim]solvent play ff-combat --luck 12[/]
    [dim]solvent play book my-book.yaml[/]
    [dim]solvent play football --solution half[/]
    """
    from solvent.cli.work import play as play_named

    play_named(game, ctx.args, player, against, solution, seed=seed, hints=hints)


def _is_given(ctx: typer.Context, option: str) -> bool:
    """Return whether an option stands on the command line."""
    source = ctx.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


@app.command(**TAKES_PARAMETERS)
def explore(
    ctx: typer.Context,
    game: Annotated[
        str,
        typer.Argument(
            metavar="[GAME]",
            help="As for other commands; a gallery of all games if left out.",
            show_default=False,
        ),
    ] = "",
    host: Annotated[str, typer.Option(metavar="ADDRESS", help="What to listen on.")] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 0,
    browser: Annotated[bool, typer.Option(help="Whether to open the page in a browser.")] = True,
    policy: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A policy to compare with the optimum (.npz)."),
    ] = None,
    solution: Solved = None,
    export: Annotated[
        Path | None,
        file_option(
            metavar="FILE",
            dir_okay=False,
            help="Write the maps (.html, .svg) or the episode of --replay (.html), and serve "
            "nothing.",
        ),
    ] = None,
    replay: Annotated[
        str | None,
        file_option(
            metavar="EPISODE",
            help="The game to be written, as the address of its board says it: 'line=1:3,4'.",
        ),
    ] = None,
    live_grid: Annotated[
        Path | None,
        file_option(
            metavar="FILE",
            dir_okay=False,
            help="Write a page on which you draw a grid and watch two algorithms learn it (.html).",
        ),
    ] = None,
) -> None:
    """Explore games in the browser: a board on which every move has its exact value.

    The page is on this machine's own address, which no other machine can reach.

    [dim]solvent explore[/]
    [dim]solvent explore greed --limit 20 --sides 4[/]
    [dim]solvent explore pig --target 20 --export pig.html[/]
    """
    if live_grid is not None:
        from solvent.explore import write_live_grid

        options = (one for one in ctx.params if one not in ("game", "live_grid"))
        given = (f"--{one.replace('_', '-')}" for one in options if _is_given(ctx, one))
        others = [*filter(None, (game, *ctx.args)), *given]
        if others:
            raise ValueError(f"--live-grid writes one page for all games; drop {others[0]}")
        typer.echo(f"{write_live_grid(live_grid)} written")
        return
    from solvent.cli.work import explore as explore_named

    address = host, port
    explore_named(game, ctx.args, address, solution, policy, export, replay, browser=browser)


@app.command(**TAKES_PARAMETERS)
def train(
    ctx: typer.Context,
    game: Game,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for everything written.")],
    algorithm: Learner = "ppo",
    seed: Annotated[int, typer.Option(help="Of networks, exploration and environments.")] = 0,
    timesteps: Annotated[
        int | None, typer.Option(metavar="N", help="Environment steps; as tuned if left out.")
    ] = None,
    exploring_starts: ExploringStarts = None,
    start_weights: StartWeights = "uniform",
    self_play: Annotated[
        bool, typer.Option("--self-play", help="Learn both seats of a game for two.")
    ] = False,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Begin again instead of going on with what is there.")
    ] = False,
    opponent: Annotated[
        str | None,
        env_option(
            metavar="NAME|FILE",
            help="In a game for two, who plays the other seat: a baseline, or a policy file; as "
            "the environment has it if left out. Some games have a parameter of this name.",
        ),
    ] = None,
    seat: Annotated[
        str | None,
        env_option(
            metavar="0|1|random", help="In a game for two, the learner's seat; 0 if left out."
        ),
    ] = None,
    observation: Annotated[
        str | None,
        env_option(
            metavar="KIND",
            help="What the network sees: vector, onehot or index; as tuned if left out.",
        ),
    ] = None,
    illegal: Annotated[
        str | None,
        env_option(
            metavar="remap|raise",
            help="An illegal action becomes the lowest legal one, or is an error.",
        ),
    ] = None,
    solution: Annotated[
        Path | None,
        env_option(
            metavar="DIR",
            help="What `solve --out DIR` has solved, for an optimal opponent in a game without a "
            "table.",
        ),
    ] = None,
) -> None:
    """Train a network on a game, with its exact gap at every checkpoint.

    Run again after an interruption, it goes on from the last checkpoint.

    [dim]solvent train ff-combat --luck 12 --algorithm dqn --out runs/combat[/]
    [dim]solvent train pig --target 20 --opponent uniform --out runs/pig[/]
    """
    from solvent.cli.work import train as train_named

    of_env: dict[str, Any] = {"opponent": opponent, "seat": seat, "observation": observation}
    of_env |= {"illegal": illegal, "solution": solution}
    train_named(
        game,
        ctx.args,
        of_env,
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
            metavar="GAME", help="The game of the policy; a policy of `solvent train` knows it."
        ),
    ] = None,
    top: Annotated[
        int, typer.Option(metavar="N", min=1, help="How many losing states to show.")
    ] = 10,
    trust: Annotated[
        bool, network_option("--trust", help="Open it: that runs code from the file.")
    ] = False,
    algorithm: Annotated[
        str, network_option(metavar="NAME", help="The algorithm that trained it.")
    ] = "ppo",
    observation: Annotated[
        str | None,
        network_option(
            metavar="KIND",
            help="What it sees: vector, onehot or index; what fits its network if left out.",
        ),
    ] = None,
    mode: Annotated[
        bool,
        typer.Option(
            "--mode", help="Score the greedy policy: the most probable action of every state."
        ),
    ] = False,
    normalization: Annotated[
        Path | None,
        network_option(
            metavar="FILE",
            help="The statistics of VecNormalize, if it was trained under that (.npz).",
        ),
    ] = None,
    solution_folder: Annotated[
        Path | None,
        layer_option("--solution", metavar="DIR", help="What `solve --out DIR` has solved."),
    ] = None,
    out: Annotated[
        Path | None,
        layer_option(
            metavar="DIR",
            help="Keep what is scored in this folder; the same command goes on from there.",
        ),
    ] = None,
    tolerance: Tolerance = 1e-9,
    json: Json = False,
) -> None:
    """Score a policy exactly: value, gap, and the states in which the gap is lost.

    [dim]solvent score runs/pig/policy_mode.npz[/]
    [dim]solvent score model.zip ff-combat --trust --algorithm dqn[/]
    [dim]solvent score uniform pig --target 20[/]
    """
    from solvent.cli.scoring import Zip, score_named

    for option in ("trust", "algorithm", "observation", "normalization"):
        if _is_given(ctx, option) and policy_file.suffix != ".zip":
            raise ValueError(f"--{option} is for a .zip, not for {policy_file}")
    score_named(
        policy_file,
        game,
        ctx.args,
        Zip(trust, algorithm, observation, normalization),
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
        typer.Option(metavar="NAME|FILE", help="A suite, or a file of one; `quick` if left out."),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID",
            help="An environment, in the place of a suite; of a suite, only this. May be repeated.",
        ),
    ] = None,
    self_play: Annotated[
        bool, typer.Option("--self-play", help="With --env: both seats are learned.")
    ] = False,
    algorithm: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="An algorithm, module:function or file.py:function; "
            "those of the suite if left out. May be repeated.",
        ),
    ] = None,
    seeds: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="Runs of each algorithm on each task.")
    ] = None,
    timesteps: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="The budget, in the place of the suite's."),
    ] = None,
    settings: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="A file of settings of the algorithms, as benchmarks/tune.py writes it, in the "
            "place of the suite's. May be repeated.",
        ),
    ] = None,
    workers: Annotated[
        int, typer.Option(metavar="N", min=1, help="Runs under way at the same time.")
    ] = 2,
    on: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="A Ray cluster that is to do the runs: HOST:PORT, auto or ray://HOST:PORT.",
        ),
    ] = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Folder for everything written.")],
) -> None:
    """Compare algorithms on a suite: run them, score them exactly, and make the page.

    [dim]solvent bench --out results[/]
    [dim]solvent bench --suite core --seeds 10 --out core[/]
    [dim]solvent bench --env FrozenLake-v1 --algorithm my_file.py:mine --timesteps 100000 --out
    mine[/]

    Run again after an interruption, it goes on where it was.
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
            help="With --in: where to write its summary as CSV, JSON and LaTeX, and its charts as "
            "SVG.",
        ),
    ] = None,
    game: Annotated[
        str | None,
        typer.Option("--game", metavar="GAME", help="A game to solve, without any training."),
    ] = None,
    solution: Annotated[
        Path | None, typer.Option(metavar="DIR", help="What `solve --out DIR` has solved.")
    ] = None,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust", help="With --in: run the code of a game that the results name by its file."
        ),
    ] = False,
    out: Annotated[Path, typer.Option(metavar="FILE", help="The page to write.")] = Path(
        "report.html"
    ),
) -> None:
    """Write a self-contained HTML page about a bench, a game, or a solution.

    [dim]solvent report --game greed --limit 50 --sides 6 --out greed.html[/]
    [dim]solvent report --solution second-half --paper-agent --out second-half.html[/]
    """
    from solvent.cli.work import report as write_page

    write_page(results, game, solution, ctx.args, summary, out, trust=trust)


app.command(rich_help_panel=MORE)(grade)
app.add_typer(submit, name="submit", rich_help_panel=MORE)
app.command(rich_help_panel=MORE)(leaderboard)
