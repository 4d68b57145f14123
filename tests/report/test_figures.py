"""The parts of figures: statistics, axes, places, numbers and colours."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from solvent import report
from solvent.benchmark.summary import estimate
from solvent.exact import locate_gap, solve
from solvent.games import FightingFantasy, Greed
from solvent.games.gamebook.library import open_book
from solvent.model import TabularPolicy, compile_game
from solvent.model.text import brief, choice_text, exact, interval, precise, small, tick, whole
from solvent.report.gap_attribution import attribute_gap
from solvent.report.panel import (
    ALGORITHMS,
    CIVIDIS,
    FURTHER,
    LABEL,
    OWN_MARKS,
    VIRIDIS,
    Axis,
    algorithm_marks,
    gap_axis,
    shade,
    spread,
)


def test_fewer_than_ten_seeds_have_their_range() -> None:
    """An interval of three runs would say more than three runs can."""
    scores = np.random.default_rng(1).random(10)
    for tasks, low, high in (
        ([scores[:9].tolist()], scores[:9].min(), scores[:9].max()),
        ([scores.tolist(), [0.0, 2.0]], 0.0, 2.0),
    ):
        some = estimate(tasks)
        assert (some.is_interval, some.low, some.high) == (False, low, high)
    ten = estimate([scores.tolist()])
    assert ten.is_interval
    assert scores.min() < ten.low < ten.mean < ten.high < scores.max()


@given(
    st.floats(-1e6, 1e6),
    st.floats(1e-6, 1e6),
)
def test_linear_ticks_are_few_round_and_within_the_axis(low: float, span: float) -> None:
    axis = Axis(low, low + span)
    ticks = axis.ticks()
    assert 2 <= len(ticks) <= 11
    slack = 1e-6 * span + 4 * math.ulp(max(abs(axis.low), abs(axis.high)))
    assert all(axis.low - slack <= t <= axis.high + slack for t in ticks)
    steps = np.diff(ticks)
    assert steps == pytest.approx(np.full(len(steps), steps[0]), rel=1e-3)


def test_axes_of_gaps_take_whole_decades_and_a_lane_for_0() -> None:
    axis = gap_axis([0.3, 0.004, 0.0, math.inf, math.nan])
    assert (axis.low, axis.high) == pytest.approx((1e-3, 1.0))
    assert axis.ticks() == pytest.approx([0, 1e-3, 1e-2, 1e-1, 1.0])
    assert axis.share(0.0) == 0
    assert axis.share(1e-3) == pytest.approx(axis.zero)
    assert axis.share(1.0) == 1
    middle = axis.share(1e-3) + (axis.share(1.0) - axis.share(1e-3)) / 2
    assert axis.share(math.sqrt(1e-3)) == pytest.approx(middle)


@given(st.lists(st.one_of(st.just(0.0), st.floats(1e-15, 1e9)), min_size=1))
def test_what_counts_as_0_and_nothing_else_is_at_0(gaps: list[float]) -> None:
    axis = gap_axis(gaps)
    for gap in gaps:
        assert (axis.share(gap) == 0) == (small(gap) == "0")
        if small(gap) != "0":
            assert axis.share(gap) >= axis.zero * (1 - 1e-9)
            power = (axis.share(gap) - axis.zero) / (1 - axis.zero)
            assert axis.low * (axis.high / axis.low) ** power == pytest.approx(gap, rel=1e-6)
    assert axis.share(-1e-13) == 0
    assert len(axis.ticks()) <= 9


@given(st.lists(st.floats(0, 200), min_size=1, max_size=12))
def test_labels_are_moved_apart_within_the_chart(places: list[float]) -> None:
    places = sorted(places)
    moved = spread(places, 0, 200)
    assert all(later - earlier >= LABEL - 1e-9 for earlier, later in pairwise(moved))
    assert moved[0] >= 0
    assert moved[-1] <= 200
    if all(later - earlier >= LABEL for earlier, later in pairwise(places)):
        assert moved == places


def test_every_algorithm_has_one_mark_on_all_pages() -> None:
    names = [*OWN_MARKS, "minimax_q", "q_learning", "td3", "my own"]
    marks = algorithm_marks(names)
    assert len(set(marks.values())) == len(names)
    assert len({marks[name].colour for name in OWN_MARKS}) == len(OWN_MARKS)
    own = {marks[name].colour for name in OWN_MARKS}
    for name in names:
        assert algorithm_marks([name])[name] == marks[name]
        assert (marks[name].colour in own) == (name in OWN_MARKS)


def test_series_stand_out_from_the_page() -> None:
    css = (Path(report.__file__).parent / "page.css").read_text()
    light, _, dark = css.partition("@media")
    for part, least in ((light, 2.2), (dark, 5.9)):
        colours = dict(re.findall(r"--([\w-]+): (#\w+);", part))
        paper = luminance(colours["paper"])
        for number in range(len(ALGORITHMS) + len(FURTHER)):
            colour = luminance(colours[f"series-{number}"])
            assert (max(paper, colour) + 0.05) / (min(paper, colour) + 0.05) > least, number


def test_every_ink_has_a_light_and_a_dark_form() -> None:
    style = (Path(report.__file__).parent / "page.css").read_text("utf-8")
    light, dark = re.findall(r":root \{(.*?)\}", style, re.DOTALL)
    inks, others = (set(re.findall(r"(--[\w-]+): (?=#)", block)) for block in (light, dark))
    assert inks == others
    rest = style.replace(light, "").replace(dark, "")
    assert re.findall(r"#[0-9a-f]{3,6}\b", rest) == []
    assert set(re.findall(r"var\((--[\w-]+)", style)) - {"--share"} <= inks


def luminance(colour: str) -> float:
    """Relative, as the contrast of W3C's Web Content Accessibility Guidelines 2.2 has it."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    light = [
        c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4
        for c in (byte / 255 for byte in bytes.fromhex(digits))
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), light, strict=True))


def test_small_numbers_have_three_digits_and_rounding_is_written_as_0() -> None:
    numbers = {
        0.0012345: "0.00123", 0.5: "0.500", 0.99996: "1.00", 0.00999999: "0.0100",
        -0.0321: "-0.0321", 0.0000123: "1.23×10⁻⁵", 3e-16: "0", 12.3456: "12.3", 1234.5: "1234",
        math.nan: "–", math.inf: "unbounded",
    }  # fmt: skip
    assert [small(number) for number in numbers] == list(numbers.values())
    for noise in (-1e-16, -0.0, 1e-16):
        written = [exact(noise), brief(noise), small(noise), precise(noise)]
        assert written == ["0.000000", "0.0000", "0", "0"]


def test_other_numbers() -> None:
    assert exact(0.7372926) == "0.737293"
    assert exact(-0.25) == "−0.250000"
    assert [exact(n) for n in (-math.inf, math.inf, math.nan)] == ["−∞", "∞", "–"]
    assert [precise(n) for n in (1 / 3, -math.inf, math.inf)] == ["0.333333333", "−∞", "unbounded"]
    assert [precise(n) for n in (-0.25, math.nan)] == ["−0.25", "–"]
    assert precise(-1e-15, 0.0) == "−1e−15"
    assert interval(-0.25, -0.0) == "[−0.25, 0]"
    assert brief(-0.98765) == "−0.9877"
    assert whole(1234567) == "1\N{NARROW NO-BREAK SPACE}234\N{NARROW NO-BREAK SPACE}567"
    assert [tick(n) for n in (0, 0.25, 250_000, 1.5e6, 0.01, 1e-5, 4e-4, -2e-4)] == [
        "0", "0.25", "250k", "1.5M", "0.01", "10⁻⁵", "4×10⁻⁴", "−2×10⁻⁴",
    ]  # fmt: skip


@pytest.mark.parametrize("scale", [VIRIDIS, CIVIDIS])
def test_scales_grow_lighter_all_the_way(scale: tuple[str, ...]) -> None:
    def lightness(colour: str) -> float:
        red, green, blue = bytes.fromhex(colour[1:])
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    shades = [lightness(shade(scale, share)) for share in np.linspace(0, 1, 41)]
    assert (np.diff(shades) > 0).all()
    assert (shade(scale, 0), shade(scale, 1)) == (scale[0], scale[-1])
    assert (shade(scale, -1), shade(scale, 2)) == (scale[0], scale[-1])


def test_an_attribution_splits_the_whole_gap_by_each_field() -> None:
    game = compile_game(FightingFantasy(skill_difference=[-1, 1], stamina=5, opponent_stamina=5))
    uniform, solution = TabularPolicy.uniform(game), solve(game)
    losses = attribute_gap(game, uniform, solution, locate_gap(game, uniform, solution), most=7)
    assert losses.total == pytest.approx(losses.gap, abs=1e-9)
    assert [m.field for m in losses.marginals] == list(losses.field_names)
    for marginal in losses.marginals:
        assert sum(part for _, part in marginal.parts) == pytest.approx(losses.gap, abs=1e-9)
    assert len(losses.worst) == 7
    contributions = [state.contribution for state in losses.worst]
    assert contributions == sorted(contributions, reverse=True)
    for state in losses.worst:
        assert state.visits * state.loss == pytest.approx(state.contribution)
        assert state.share == pytest.approx(state.contribution / losses.gap)
        assert state.chosen == "keep 50%, test luck 50%"
        assert state.best in ("keep", "test luck")


def test_of_a_mix_the_most_probable_actions_are_named() -> None:
    game = compile_game(Greed(6, 3))
    state = int(np.flatnonzero(game.initial)[0])
    mix = np.where(game.mask[0], 1.0, 0.0)
    mix[state] = np.where(game.mask[0][state], np.arange(mix.shape[1]) ** 2, 0.0)
    mix /= np.maximum(mix.sum(axis=1, keepdims=True), 1e-300)
    policy = TabularPolicy.of(game, mix)
    every = choice_text(game, policy, state).split(", ")
    shares = [float(text.rpartition(" ")[2].rstrip("%")) for text in every]
    assert shares == sorted(shares, reverse=True)
    assert len(every) > 2
    assert choice_text(game, policy, state, 2) == ", ".join([*every[:2], "…"])
    assert choice_text(game, policy, state, len(every)) == ", ".join(every)
    solution = solve(game)
    told = attribute_gap(game, policy, solution, locate_gap(game, policy, solution), actions=2)
    assert all(worst.chosen.count(",") <= 2 for worst in told.worst)


def test_attributions_without_a_loss_and_of_fields_that_matter_no_more() -> None:
    game = compile_game(FightingFantasy(stamina=4, opponent_stamina=4, luck=2))
    # States of a gamebook forget, so a field may be None here and a number there.
    book = open_book("red-lamp").tabulate()
    for table, policy in (
        (game, solve(game).policies[0]),
        (book, TabularPolicy.uniform(book)),
    ):
        solution = solve(table)
        losses = attribute_gap(table, policy, solution, locate_gap(table, policy, solution))
        assert (losses.total > 1e-9) == (table is book)
        assert losses.total == pytest.approx(losses.gap, abs=1e-9)
        assert losses.marginals
        for marginal in losses.marginals:
            assert sum(part for _, part in marginal.parts) == pytest.approx(losses.gap, abs=1e-9)
