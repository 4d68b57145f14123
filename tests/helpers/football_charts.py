"""Random results, cells and charts of football, and what a cell is worth in plain yards."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from hypothesis import strategies as st

from solvent.games.football.chart import Cell, Chart, Result, ordered_cell, parse_cell


def chart_of(
    name: str,
    plays: Sequence[Sequence[str]],
    quick_kick: Sequence[str],
    punt: Sequence[str],
    source: str = "",
) -> Chart:
    """A chart from the text of its cells, ``plays[play - 1][defence]``."""
    columns = (tuple(map(parse_cell, cells)) for cells in (*plays, quick_kick, punt))
    *cells, kicked, punted = columns
    return Chart(name, tuple(cells), kicked, punted, source)


yards = st.integers(-99, 99)
lengths = st.integers(0, 99)
penalties = st.one_of(
    st.builds(Result, st.just("offence-penalty"), st.integers(1, 99)),
    st.builds(Result, st.just("defence-penalty"), st.integers(1, 99), first_down=st.booleans()),
)
plain_plays = st.one_of(
    st.builds(Result, st.just("gain"), yards, out_of_bounds=st.booleans()),
    st.builds(Result, st.just("fumble"), yards),
    st.builds(Result, st.just("interception"), yards, return_yards=lengths),
    st.sampled_from([Result("incomplete"), Result("long-gain")]),
)
kicks = st.one_of(
    st.builds(Result, st.just("punt"), st.integers(1, 99), return_yards=lengths),
    st.builds(Result, st.just("fumbled-punt"), st.integers(1, 99)),
    st.just(Result("blocked-punt")),
)


def with_choices(results: st.SearchStrategy[Result]) -> st.SearchStrategy[Result]:
    options = st.tuples(penalties, results)
    return st.one_of(results, penalties, options.map(lambda o: Result("choice", options=o)))


plays = with_choices(plain_plays)
kicking = with_choices(st.one_of(plain_plays, kicks))


def cells(results: st.SearchStrategy[Result]) -> st.SearchStrategy[Cell]:
    weighted = st.dictionaries(results, st.integers(1, 1000), min_size=1, max_size=4)
    return weighted.map(
        lambda w: ordered_cell((Fraction(n, sum(w.values())), r) for r, n in w.items())
    )


lines = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")), max_size=40
).map(lambda text: "".join(filter(str.isprintable, text)).strip())


@st.composite
def charts(draw: Callable[[Any], Any]) -> Chart:
    """Small charts of any shape and content."""
    defences = draw(st.integers(1, 4))
    column = st.lists(cells(plays), min_size=defences, max_size=defences).map(tuple)
    kick_column = st.lists(cells(kicking), min_size=defences, max_size=defences).map(tuple)
    table = draw(st.lists(column, min_size=1, max_size=4))
    return Chart(
        # A chart without a name is named after its file.
        draw(lines.filter(bool)),
        tuple(table),
        draw(kick_column),
        draw(kick_column),
        draw(lines),
    )
