"""Models of PRISM's and Storm's as games: published values, random models, refusals."""

import random
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from doc_pages import DOCS, table_rows
from random_games import RandomGame
from refusals import assert_refused
from storm_model import to_storm

import solvent
from solvent.games import FightingFantasy, Pig
from solvent.model import (
    PrismGame,
    TabularPolicy,
    against,
    check_game,
    compile_game,
    game_from_prism,
)
from solvent.model.prism_game import SUFFIXES, read_model
from solvent.model.registry import FORMATS

FOLDER = Path(__file__).parents[1] / "data" / "prism"


class Published(NamedTuple):
    """A model, the values of its open constants, its states, and the values of properties."""

    model: str
    constants: str
    states: int | None
    values: dict[str, Fraction]

    @property
    def path(self) -> Path:
        return FOLDER / self.model


PUBLISHED = (
    Published(
        "consensus.prism",
        "K=2",
        272,
        {
            'Pmin=? [F "finished" & "ones"]': Fraction(49, 128),
            'Pmax=? [F "finished" & !"agree"]': Fraction(13, 120),
            'R{"steps"}max=? [F "finished"]': Fraction(75),
            'R{"steps"}min=? [F "finished"]': Fraction(48),
        },
    ),
    Published(
        "consensus.prism",
        "K=4",
        528,
        {
            'Pmin=? [F "finished" & "ones"]': Fraction(1793, 4096),
            'Pmax=? [F "finished" & !"agree"]': Fraction(251, 4080),
            'R{"steps"}max=? [F "finished"]': Fraction(243),
            'R{"steps"}min=? [F "finished"]': Fraction(192),
        },
    ),
    Published(
        "firewire.prism",
        "delay=3",
        611,
        {
            'R{"time"}max=? [F "done"]': Fraction(299),
            'R{"time"}min=? [F "done"]': Fraction(541, 4),
            'R{"rounds"}min=? [F "done"]': Fraction(1),
        },
    ),
    Published(
        "firewire.prism",
        "delay=36",
        776,
        {
            'R{"time"}max=? [F "done"]': Fraction(365),
            'R{"time"}min=? [F "done"]': Fraction(409, 4),
            'R{"rounds"}min=? [F "done"]': Fraction(1),
        },
    ),
    Published(
        "zeroconf.prism",
        "N=20,K=2",
        670,
        {
            'Pmax=? [F "wrong"]': Fraction(65341, 3250265341),
            'Pmin=? [F "wrong"]': Fraction(6859, 3250206859),
        },
    ),
    Published(
        "zeroconf.prism",
        "N=1000,K=4",
        1088,
        {
            'Pmax=? [F "wrong"]': Fraction(23588101, 640263588101),
            'Pmin=? [F "wrong"]': Fraction(2476099, 640242476099),
        },
    ),
    # Its tables have states in which nothing is rounded, beside others in which everything is.
    Published(
        "zeroconf.prism",
        "N=1000,K=8",
        None,
        {'Pmax=? [F "wrong"]': Fraction(3074024910421, 64024003074024910421)},
    ),
    Published(
        "resource-gathering.prism",
        "GOLD=15,GEM=15",
        24064,
        {'R{"steps"}min=? [F "done"]': Fraction(1745, 9)},
    ),
    Published("israeli-jalfon-3.prism", "", 7, {'Pmax=? [F "stable"]': Fraction(1)}),
    Published("herman-7.prism", "", None, {'R{"steps"}=? [F "stable"]': Fraction(48, 7)}),
    Published(
        "haddad-monmege.prism",
        "N=20,p=0.7",
        41,
        {'P=? [F "target"]': Fraction(7, 10), 'R{"steps"}=? [F "end"]': Fraction(1572862)},
    ),
    Published(
        "crowds.prism",
        "",
        1198,
        {'P=? [F "seen_twice"]': Fraction(16406726260175797, 309779851562500000)},
    ),
    Published(
        "brp.prism",
        "N=16,MAX=2",
        677,
        {
            # The rationals of the first two have 175 digits; these are the floats beside them.
            'P=? [F "given_up"]': Fraction(0.0004233334437734179),
            'P=? [F "unknown"]': Fraction(2.6453089120221642e-05),
            'P=? [F "nothing_came"]': Fraction(1, 125000),
        },
    ),
    Published("coupon-5-2.prism", "", None, {'R{"draws"}=? [F "all"]': Fraction(751, 126)}),
    *(
        # Nobody's number is alone where all three are the same, K of K cubed draws. Above K = 2 the
        # model of the set has fewer states: it forgets numbers on the way.
        Published(
            "leader-sync-3.prism",
            f"K={k}",
            26 if k == 2 else None,
            {'P=? [F "elected"]': Fraction(1), 'R{"rounds"}=? [F "elected"]': rounds},
        )
        for k, rounds in ((2, Fraction(4, 3)), (3, Fraction(9, 8)), (4, Fraction(16, 15)))
    ),
    Published(
        "die.prism",
        "",
        13,
        {"P=? [F d=6]": Fraction(1, 6), 'R{"flips"}=? [F "done"]': Fraction(11, 3)},
    ),
)


# Models of PRISM's and Storm's as games: published values, random models, refusals

stormpy = pytest.importorskip("stormpy")


def storm_value(path: Path, wanted: str, constants: str = "") -> Fraction | float:
    program = stormpy.parse_prism_program(path)
    asked = stormpy.parse_property(wanted, program)
    program, [asked] = stormpy.instantiate_constants(program, constants, [asked])
    options = stormpy.BuilderOptions([asked.get_raw_formula()])
    model = stormpy.build_model[stormpy.Rational](program, None, options=options)
    value = str(stormpy.model_checking(model, asked).get_value(model.initial_states[0]))
    return float(value) if value in ("inf", "infinity") else Fraction(value)


@pytest.mark.parametrize(
    "one",
    [
        pytest.param(one, marks=[pytest.mark.slow] if one.constants == "GOLD=15,GEM=15" else [])
        for one in PUBLISHED
    ],
    ids=lambda one: f"{one.model}-{one.constants}",
)
def test_published_values(one: Published) -> None:
    program = stormpy.parse_prism_program(one.path)
    program, _ = stormpy.instantiate_constants(program, one.constants)
    if one.states is not None:
        assert stormpy.build_model[float](program).nr_states == one.states
    for wanted, expected in one.values.items():
        game = read_model(one.path, wanted, one.constants)
        solution = solvent.solve(compile_game(game))
        value = game.sign * solution.value
        assert value == pytest.approx(float(expected), rel=1e-9, abs=1e-15), wanted
        low, high = sorted((game.sign * solution.lower, game.sign * solution.upper))
        slack = 1e-15 * abs(float(expected))
        assert low - slack <= expected <= high + slack, wanted
        assert game.sign == (-1 if "min" in wanted else 1)


def test_the_page_has_the_published_values() -> None:
    """Each value of the page's table is that of a model and a property here, in their order."""
    rows = table_rows((DOCS / "other-formats.md").read_text("utf-8"), "model | kind | states")
    left: list[Fraction] = []
    for name, _, states, _, values in rows:
        if name:
            model, _, asked = name.removeprefix("`").partition("`")
            [one, *_] = [
                one
                for one in PUBLISHED
                if (one.model, one.constants.startswith(asked.replace(" ", "")))
                == (f"{model}.prism", True)
            ]
            left = list(one.values.values())
            assert states == str(one.states or "")
        for value in values.split(", "):
            assert float(Fraction(value)) == pytest.approx(float(left.pop(0)), rel=2e-3), name
    assert sum(len(values.split(", ")) for *_, values in rows) == 18


@pytest.mark.parametrize(
    "rounds", [(2, 4, 9, 12), pytest.param((20, 24, 36, 44, 48), marks=pytest.mark.slow)]
)
def test_ties_that_rounding_decides_are_proved(rounds: tuple[int, ...]) -> None:
    """Hardly anything changes along most rows here, so that rounding is as large as advantages."""
    path, wanted = FOLDER / "consensus.prism", 'Pmin=? [F "finished" & "ones"]'
    assert compile_game(read_model(path, wanted, "K=2")).n_states == 187  # docs/other-formats.md
    for k in rounds:
        solution = solvent.solve(compile_game(read_model(path, wanted, f"K={k}")))
        assert solution.lower <= -storm_value(path, wanted, f"K={k}") <= solution.upper, k
        # Sweeps solve components of more than 500 states, and the certificate accepts 1e-11.
        assert solution.upper - solution.lower < (5e-13 if k <= 12 else 2e-11), k


RANDOM = (
    'Pmax=? [F "goal"]',
    'Pmin=? [F "goal"]',
    'Pmax=? [!"barred" U "goal"]',
    'Pmin=? [!"barred" U "goal"]',
    'R{"r"}max=? [F "goal"]',
    'R{"r"}min=? [F "goal"]',
)


def random_model(seed: int, size: int = 7) -> str:
    """A decision process with loops that cost nothing, and states from which nothing leads on."""
    dice = random.Random(seed)
    lines = [f"mdp\nmodule m\ns : [0..{size - 1}];"]
    for s in range(size):
        for _ in range(dice.randint(1, 3 - seed % 2)):
            targets = dice.sample(range(size), dice.choice((1, 1, 2, 3)))
            # Some states can only be left downwards, so that loops and traps come about.
            targets = targets if seed % 2 or s % 3 != 2 else [min(t, s) for t in targets]
            weights = [dice.randint(1, 4) for _ in targets]
            branches = (
                f"{w}/{sum(weights)} : (s'={t})" for w, t in zip(weights, targets, strict=True)
            )
            lines.append(f"[] s={s} -> {' + '.join(branches)};")
    lines.append("endmodule")
    lines.append(f'label "goal" = s={size - 1};\nlabel "barred" = s=2;')
    lines.append('rewards "r" s=1 : 2; s=3 : 1/3; s=4 : 1; endrewards')
    return "\n".join(lines)


def read(path: Path, wanted: str) -> tuple[PrismGame | None, str]:
    """The game, or why it is refused."""
    try:
        return read_model(path, wanted, ""), ""
    except ValueError as error:
        return None, str(error)


@pytest.mark.slow
def test_random_models_have_storms_values(tmp_path: Path) -> None:
    """Loops without reward, traps and infinite rewards included: nothing is left out in silence."""
    compared = dict.fromkeys(RANDOM, 0)
    infinite = decided = 0
    path = tmp_path / "random.prism"
    for seed in range(20):
        path.write_text(random_model(seed), encoding="utf-8")
        for wanted in RANDOM:
            expected = storm_value(path, wanted)
            game, refused = read(path, wanted)
            if game is None:
                assert refused.endswith(
                    ("for certain", "need not reach the goal")
                    if expected == float("inf")
                    else (
                        f"is {expected} at the start, so that there is nothing to choose",
                        "without such loops",
                    )
                ), (seed, wanted, refused)
                infinite += expected == float("inf")
                decided += expected != float("inf")
                continue
            value = game.sign * solvent.solve(compile_game(game)).value
            assert value == pytest.approx(float(expected), abs=1e-9), (seed, wanted)
            if compared[wanted] < 2:
                check_game(game)
            compared[wanted] += 1
    assert infinite > 5
    assert decided > 5
    assert min(compared.values()) > 2, compared


def test_a_round_that_no_policy_comes_to_is_no_reason_to_refuse(tmp_path: Path) -> None:
    """The only way to it may also lead to where the goal is never reached."""
    path = tmp_path / "apart.prism"
    path.write_text(
        "mdp\nmodule m\ns : [0..3];\n[risk] s=0 -> 0.5:(s'=1) + 0.5:(s'=3);\n"
        "[pay] s=0 -> (s'=2);\n[] s=1 -> true;\n[] s=1 -> (s'=2);\n[] s>1 -> true;\nendmodule\n"
        'rewards "r" [pay] true : 5; endrewards\n',
        encoding="utf-8",
    )
    wanted = 'R{"r"}min=? [F s=2]'
    game = read_model(path, wanted, "")
    assert game.sign * solvent.solve(game).value == storm_value(path, wanted) == 5


def test_an_optimal_episode_ends_where_the_goal_is_avoided_for_ever(tmp_path: Path) -> None:
    """To stay is best under Pmin, and goes on for ever in the model; here it ends, with 0."""
    path = tmp_path / "stay.prism"
    path.write_text(
        "mdp\nmodule m\ns : [0..3];\n"
        "[go] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=3);\n"
        "[stay] s=1 -> (s'=2);\n[stay] s=2 -> (s'=1);\n[give_up] s=1 -> (s'=3);\n"
        "[] s=3 -> true;\nendmodule\n",
        encoding="utf-8",
    )
    least = read_model(path, "Pmin=? [F s=3]", "")
    assert compile_game(least).terminal.sum() == 2
    assert solvent.solve(least).value == pytest.approx(-0.5)
    assert solvent.solve(read_model(path, "Pmax=? [F s=3]", "")).value == pytest.approx(1)


def test_names_values_and_rationals() -> None:
    game = read_model(FOLDER / "firewire.prism", 'R{"time"}min=? [F "done"]', "delay=3")
    assert {"time", "round", "round #2"} <= set(game.info.actions[0])
    assert {"x", "flips"} <= set(game.variables) == set(game.info.observation_labels)
    assert ("sign", -1) in game.info.parameters
    thirds = read_model(FOLDER / "zeroconf.prism", 'Pmax=? [F "wrong"]', "N=20,K=2")
    [begin] = thirds.initial()
    [choose] = [
        a
        for a in thirds.legal_actions(begin.state)[0]
        if len(thirds.transition(begin.state, (a,))) == 6
    ]
    chances = {outcome.probability for outcome in thirds.transition(begin.state, (choose,))}
    assert chances == {Fraction(20, 65024 * 3), Fraction(65004, 65024 * 3)}


def test_floats_are_near_the_rationals(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = FOLDER / "consensus.prism", 'R{"steps"}min=? [F "finished"]', "K=2"
    exact = read_model(*asked)
    monkeypatch.setattr("solvent.model.prism_game.EXACT_STATES", 10)
    near = read_model(*asked)
    np.testing.assert_allclose(
        compile_game(exact).probability, compile_game(near).probability, atol=1e-15
    )
    assert solvent.solve(near).value == pytest.approx(-48)


UNREAD = [
    ("Pmax=?", "K=2", "cannot be read"),
    ('Pmax=? [F<=5 "finished"]', "K=2", "is of a form that is not supported; allowed are Pmax"),
    ('Pmax=? [G "agree"]', "K=2", "is of a form that is not supported"),
    ('P>=0.5 [F "finished"]', "K=2", "is of a form that is not supported"),
    ('P=? [F "finished"]', "K=2", "does not say whether it asks for max or min"),
    ('R{"money"}max=? [F "finished"]', "K=2", "money"),
    ("Pmax=? [F counter=6]", "K=2", "is 1 at the start"),
    ('R{"steps"}max=? [F "ones"]', "K=2", "is infinite: some policy"),
    ('R{"steps"}min=? [F counter=0]', "K=2", "is infinite: no policy"),
    ('Pmax=? [F "finished"]', "", "cannot be read"),
    ('Pmax=? [F "finished"]', "M=3", "cannot be read"),
]


def test_what_cannot_be_read_is_refused_by_name(tmp_path: Path) -> None:
    path, other = FOLDER / "consensus.prism", FOLDER / "consensus.txt"
    assert_refused(UNREAD, lambda wanted, constants: read_model(path, wanted, constants))

    def asked(file: Path, wanted: str) -> PrismGame:
        return game_from_prism(file, property=wanted)

    rows = (
        (path, "", "the property is missing; allowed are Pmax"),
        (other, "Pmax=? [F x=1]", r"the ending of consensus.txt is '.txt'"),
    )
    assert_refused(rows, asked)
    assert_refused([(tmp_path / "none.prism", "P=? [F s=1]", ".")], asked, FileNotFoundError)


def test_other_languages(tmp_path: Path) -> None:
    """The same model in JANI, DRN and UMB, as Storm writes it."""
    wanted = 'R{"steps"}max=? [F "finished"]'
    program = stormpy.parse_prism_program(FOLDER / "consensus.prism")
    asked = stormpy.parse_property(wanted, program)
    program, [asked] = stormpy.instantiate_constants(program, "K=2", [asked])
    model = stormpy.build_model[float](program, [asked])
    stormpy.io.export_to_drn(model, str(tmp_path / "coin.drn"))
    stormpy.io.export_to_umb(model, str(tmp_path / "coin.umb"))
    jani, asked_jani = program.to_jani([asked])
    stormpy.io.export_jani_to_file(str(tmp_path / "coin.jani"), jani, asked_jani)
    for name in ("coin.drn", "coin.umb", "coin.jani"):
        game = game_from_prism(tmp_path / name, property=wanted)
        assert compile_game(game).n_states == 272, name
        assert solvent.solve(game).value == pytest.approx(75), name


CHAIN = "dtmc\nmodule m\nx : [0..1];\n[] x=0 -> (x'=1);\n[] x=1 -> true;\nendmodule\n"
DEEP = f"{'(' * 20_000}x=0{')' * 20_000}"


HIDDEN = (
    "pomdp\nobservables o endobservables\nmodule m\ns : [0..2];\no : [0..1];\n"
    "[a] s=0 -> 0.5 : (s'=1) + 0.5 : (s'=2);\n[a] s>0 -> (o'=1);\nendmodule\n"
)

ENDS_STORM = r"^chain\.prism .* it ends Storm \(SIG(FPE|SEGV)\)"
NO_MODELS = [
    (CHAIN.replace("0..1", "0..1/0"), "P=? [F x=1]", ENDS_STORM),
    (CHAIN + 'rewards "r" x=0 : 1/x; endrewards\n', 'R{"r"}=? [F x=1]', ENDS_STORM),
    (CHAIN.replace("x=0 ->", f"{DEEP} ->"), "P=? [F x=1]", ENDS_STORM),
    (CHAIN, f"P=? [F {DEEP}]", ENDS_STORM),
    (CHAIN.replace("(x'=1)", "(x'=7)"), "P=? [F x=1]", r"out-of-bounds value \(7\) for the vari"),
    (
        "ctmc\nmodule m\ns : [0..1];\n<> s=0 -> 2 : (s'=1);\nendmodule\n",
        "P=? [F s=1]",
        "of the kind ctmc; allowed are Markov chains",
    ),
    (HIDDEN, "Pmax=? [F o=1]", "of the kind pomdp"),
]


def test_what_ends_storm_and_other_kinds_of_models_are_errors_here(tmp_path: Path) -> None:
    """Each of the first four would end this interpreter; the next leaves a variable's range."""
    path = tmp_path / "chain.prism"

    def read_text(model: str, wanted: str) -> None:
        path.write_text(model, encoding="utf-8")
        game_from_prism(path, property=wanted)

    assert_refused(NO_MODELS, read_text)


def test_on_the_command_line() -> None:
    from commands import answer, refusal, said

    words = ["--property", 'Pmin=? [F "finished" & "ones"]', "--constants", "K=2"]
    model = FOLDER / "consensus.prism"
    shown = answer("solve", model, *words, "--json")
    assert shown["value"] == pytest.approx(-49 / 128)
    assert shown["parameters"]["sign"] == -1
    assert "the property is missing" in refusal("solve", model)
    assert "--constants" in said("list", model)
    assert {ending for ending in FORMATS if ending.startswith(".")} == set(SUFFIXES)


# Storm, which shares no code and no method with the solver here, on games of this project


PIG = Pig(target=10)
TABLES = {
    "FrozenLake": lambda: solvent.compile_game("FrozenLake-v1"),
    "combat": lambda: compile_game(FightingFantasy(luck=5)),
    "pig": lambda: against(compile_game(PIG), TabularPolicy.uniform(compile_game(PIG), player=1)),
}


@pytest.mark.parametrize("method", ["INTERVAL_ITERATION", "OPTIMISTIC_VALUE_ITERATION"])
@pytest.mark.parametrize("name", TABLES)
def test_brackets_of_storm_and_ours_meet(name: str, method: str) -> None:
    from stormpy import environments

    table = TABLES[name]()
    model = to_storm(table)
    environment = environments.Environment()
    solver: Any = environment.solver().min_max()
    solver.method = getattr(environments.MinMaxMethod, method)
    solver.precision = stormpy.Rational(1e-9)
    solver.relative_termination_criterion = False
    wanted = stormpy.parse_property('R{"reward"}max=? [C]')
    result = stormpy.model_checking(model, wanted, environment=environment)
    [start] = model.initial_states
    low, high = result.get_lower_bound(start), result.get_upper_bound(start)
    ours = solvent.solve(table)
    assert high - low < 1e-8
    assert low - 1e-14 <= ours.value <= high + 1e-14
    assert max(low, ours.lower) <= min(high, ours.upper) + 1e-14


def test_only_games_for_one() -> None:
    table = compile_game(RandomGame(1, "simultaneous", False, 3))
    with pytest.raises(ValueError, match="player 1 has a choice"):
        to_storm(table)
    model = to_storm(against(table, TabularPolicy.uniform(table, player=1)))
    assert model.nr_states == table.n_states + int((table.initial > 0).sum() > 1)
