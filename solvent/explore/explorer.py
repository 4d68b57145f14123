"""The pages as HTML, by their addresses, independent of a server.

The address determines everything on a page: a line of play, a panel, two fields. The only other
state is a loaded policy, the games played so far, and the results of long work.

**The live gridworld** needs neither a server nor any other file. Its scripts are in the folder of
this module: the grid (``live_grid_model.js``), the exact solver, the learners and the page itself.
The page turns each grid into a Python file that defines it as a game, by the rules of
:mod:`solvent.explore.drawn_grid`.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from solvent import __version__
from solvent import report as report_package
from solvent.exact import (
    CertificateError,
    GapLocation,
    ImproperGameError,
    Score,
    SolvedTable,
    load_policy,
    locate_gap,
    score,
)
from solvent.exact.scoring import LEARNED
from solvent.explore import panels
from solvent.explore.address import Query, View, link
from solvent.explore.decision import choice_in, drill_position, why_tied
from solvent.explore.learning import watched
from solvent.explore.panels import graded, read_games, summary
from solvent.explore.subject import LoadedPolicy, Subject
from solvent.model import TabularPolicy, ValueScale
from solvent.model.parameters import brief
from solvent.model.text import game_text, interval
from solvent.play.line import roll
from solvent.report.sections import Section, beside, pages_of, script_json, templates

SCRIPTS = (
    "live_grid_model.js",
    "live_grid_exact.js",
    "live_grid_learn.js",
    "live_grid.js",
)


PAGES = (("board", "Board", "b"), ("learn", "Watch", "w"))
"""The pages by their words in an address, their names, and their keys."""


@dataclass(frozen=True, eq=False)
class WebPage:
    """A page to be written.

    Attributes:
        template: The name of the template's file.
        title: The title of the page.
        values: The variables of the template.
        sections: Parts with scripts of their own.
        status: The HTTP status.
        address: Another address to go to instead; empty if there is none.
    """

    template: str
    title: str
    values: Mapping[str, Any]
    sections: tuple[Section, ...] = ()
    status: int = 200
    address: str = ""


class Explorer(Subject):
    """The pages about one game."""

    def board(self, query: Query) -> WebPage:
        """Return the board: a position, the value of each action, and the moves that led to it.

        Args:
            query: The query of :meth:`view`; ``do``, a move, of which actions of others and the
                outcome may be left out; ``new``, to begin anew; ``f0`` and so on, fields to be
                set; ``answer``, an action in a quiz; further ones of the panels.

        Raises:
            ValueError: If one of them is not allowed.
        """
        if query.get("new"):
            return self._begun(query)
        if query.get("quiz") == "drill" and not query.get("s"):
            key = self.states.key(drill_position(self.solved, self.dice))
            if key is None:
                raise ValueError(f"{self.name} has no drill: its positions have no addresses")
            return _elsewhere(self.view({**query, "s": key, "line": "", "at": ""}).address())
        view = self.view(query)
        if "do" in query:
            return self._moved(view)
        if any(name.startswith("f") and name[1:].isdecimal() for name in query):
            return self._edited(view)
        return self.position(view)

    def _begun(self, query: Query) -> WebPage:
        """Begin a game: the start is drawn, and others move until the person is asked."""
        start = roll(self.solved.game.initial(), self.dice)
        key = "" if start.state == self.states.starts[0] else self.states.key(start.state) or ""
        view = self.view({**query, "s": key, "line": "", "at": ""})
        line = view.line.forced(self.dice, view.me)
        self.kept(key, line.text, line)
        return _elsewhere(view.address(s=key, line=line.text, at=None, quiz=None, queue=None))

    def _moved(self, view: View) -> WebPage:
        """Take an action, draw the outcome and missing actions, and continue to the next choice."""
        line = view.here.read(view.query["do"], self.dice, view.me).forced(self.dice, view.me)
        self.kept(view.query.get("s", ""), line.text, line)
        return _elsewhere(view.address(line=line.text, at=None))

    def _edited(self, view: View) -> WebPage:
        """Show the state that has the fields of a form, or say that there is none."""
        state = view.here.solved_state(view.here.state)
        fields = self.states.fields(state)
        asked = {
            name: view.query[f"f{n}"]
            for n, (name, *_) in enumerate(fields)
            if f"f{n}" in view.query
        }
        try:
            found = self.states.with_fields(state, asked)
        except ValueError as error:
            query = {"s": self.states.key(state) or "", "panel": "edit", "game": self.key}
            return self.position(self.view(query), str(error))
        return _elsewhere(view.address(s=self.states.key(found), line=None, at=None))

    def position(self, view: View, message: str = "") -> WebPage:
        """Return the page of a position.

        Args:
            view: The view of the board.
            message: Sentence that says what is wrong; empty if nothing is.

        Raises:
            ValueError: If a panel is asked for what is not allowed.
        """
        here = view.here
        if view.line.over and len(view.line.plies) > 1:
            self.games.setdefault(view.address(at=None, panel=None, hide=None), view.line)
        choice = choice_in(self.solved, here.solved_state(here.state))
        panel = panels.panel_of(self, view, choice)
        sections: tuple[Section, ...] = ()
        if not here.over:
            pages = pages_of(self.solved.game, discounted=True)
            state = here.solved_state(here.state)
            sections = tuple(pages.state_sections(self.solved, state, not view.hidden))
        values = {
            "view": view,
            "here": here,
            "choice": choice,
            "scale": ValueScale(self.solved.game.info, choice.player),
            "tied": "" if view.hidden else why_tied(self.solved, choice),
            "scales": tuple(ValueScale(self.solved.game.info, player) for player in (0, 1)),
            "most_rows": panels.MOST_ROWS,
            "mixed": bool(choice.replies) and not view.hidden,
            "agent": self.loaded is not None and not view.hidden,
            "key_rows": not choice.replies,
            "at_start": not view.line.plies and not view.query.get("s"),
            "mistakes": panels.mistakes_address(view),
            "explorer": self,
            "message": message,
            **panels.board_values(self, view, choice),
            "panel": panel,
        }
        sections = (*sections, *(panel["sections"] if panel else ()))
        return WebPage("board.html.j2", self.name, values, sections, 400 if message else 200)

    def load(self, file: Path) -> None:
        """Load a policy, which the board compares with the optimum.

        Args:
            file: The policy's file, such as ``solvent train`` writes.

        Raises:
            StoreError: If it is no policy, damaged, or for another game.
            ValueError: If the game has no table.
        """
        solved = self.tabled("comparing a policy")
        self.loaded = _compared(solved, load_policy(file, solved.table), brief(file.name))

    def learn(self, query: Query) -> WebPage:
        """Return the page on an algorithm, compared with the exact solution.

        Args:
            query: The query of :func:`~solvent.explore.learning.watched`.

        Raises:
            ValueError: If it is not allowed, or the game is too large.
        """
        table = self.tabled("watching an algorithm")
        title, values = watched(table, self.state_map, query)
        return WebPage("learn.html.j2", title, {**values, "states": self.states})

    def grade(self, data: bytes) -> WebPage:
        """Grade the games of a file.

        Args:
            data: The content of the file, as :func:`~solvent.explore.panels.read_games` reads it.

        Raises:
            ValueError: If a move is not allowed.
        """
        text = data.decode(errors="replace")
        games = [graded(self, line, address) for address, line in read_games(self, text)]
        return WebPage(
            "games.html.j2", "Graded games", {"games": games, "all": summary(self, games)}
        )


def _elsewhere(address: str) -> WebPage:
    return WebPage("", "", {}, address=address)


def _compared(solved: SolvedTable, policy: TabularPolicy, file: str) -> LoadedPolicy:
    table, player = solved.table, policy.player
    try:
        scored: Score | None = score(table, policy, solved.solution, tolerance=LEARNED)
        location: GapLocation | None = locate_gap(table, policy, solved.solution, tolerance=LEARNED)
    except (CertificateError, ImproperGameError):
        scored = location = None
    if scored is not None and not isfinite(scored.value):
        scored = location = None
    deciding = table.action_count[player] > 1
    losing = np.zeros(table.n_states) if location is None else location.loss
    return LoadedPolicy(
        file, policy, scored, location, int((losing > LEARNED / 1000).sum()), int(deciding.sum())
    )


def render(
    explorer: Explorer | None,
    page: WebPage,
    *,
    game: str = "",
    nonce: str = "",
) -> str:
    """Return a page as HTML.

    Args:
        explorer: The explorer of the game; None for a page about no game.
        page: The contents of the page.
        game: The name of the game in addresses; empty if they need none.
        nonce: The nonce of the page's own scripts for the browser, if the page is served.
    """
    scripts = dict.fromkeys(one.script for one in page.sections if one.script)
    report = str(report_package.__file__)
    values = {
        "title": page.title,
        "kind": page.template.partition(".")[0],
        "name": "",
        "version": __version__,
        "style": beside(report, "page.css") + beside(__file__, "explore.css"),
        "pages": PAGES,
        "sections": page.sections,
        "scripts": [*scripts, beside(__file__, "explore.js")],
        "nonce": nonce,
        "link": partial(link, game=game),
        **({} if explorer is None else _about(explorer)),
        **page.values,
    }
    return templates("solvent.explore").get_template(page.template).render(values)


def _about(explorer: Explorer) -> dict[str, Any]:
    """Return the facts about a game that every page on it shows."""
    solved, info = explorer.solved, explorer.solved.game.info
    return {
        "name": info.name,
        "players": info.players,
        "sides": explorer.sides,
        "meaning": ValueScale(info).meaning,
        "rules": explorer.spec.rules if explorer.spec else "",
        "game_text": game_text(info),
        "value": solved.value,
        "start_count": len(explorer.states.starts),
        "bracket": interval(solved.lower, solved.upper),
        "found_by": solved.method,
    }


def message_page(message: str, status: int, address: str = "") -> WebPage:
    """Return a page that reports an error, or asks whether to go on.

    Args:
        message: The error or the question, in a sentence.
        status: The HTTP status.
        address: The address to go on to; the start if empty.
    """
    titles = {
        200: "From another page",
        403: "Not allowed",
        404: "There is no such page",
        413: "Too large",
    }
    title = titles.get(status, "This cannot be shown")
    return WebPage("message.html.j2", title, {"message": message, "address": address}, (), status)


def live_grid_page() -> WebPage:
    """Return the page of the live gridworld, which has a style and scripts of its own."""
    values = {
        "style": beside(__file__, "live_grid.css"),
        "script": "\n".join(beside(__file__, name) for name in SCRIPTS),
        "rules": beside(__file__, "drawn_grid.py"),
        "presets": json.loads(beside(__file__, "live_grid_presets.json")),
        "script_json": script_json,
    }
    return WebPage("live_grid.html.j2", "Draw a grid", values)
