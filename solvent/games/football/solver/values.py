"""Indices into packed rules, as the compiled loops of football with a clock read them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from solvent.games.football.packed import PackedRules
from solvent.model.arrays import Floats, Ints


class Tables(NamedTuple):
    """The packed rules with all indices resolved.

    =====================  ====================  ==================================================
    ``row_start``          [S+1] int64           rows of situation s, one for each legal action
    ``row_action``         [rows] int64          the offence's action
    ``row_call``           [rows] int64          what it sends to the chart
    ``contested``          [S] int64             how many rows of s, which come first, depend on
                                                 the defence's call
    ``chosen_result``      [C] int64             the results that are choices
    ``option``             [C, 2] int64          penalty and play
    ``chooser``            [C] int64             0 the offence, 1 the defence
    ``kick_start``         [4] int64             branches of kickoff, onside kick and free kick
    ``kick_probability``   [F] float64           of a branch
    =====================  ====================  ==================================================
    """

    row_start: Ints
    row_action: Ints
    row_call: Ints
    contested: Ints
    chosen_result: Ints
    option: Ints
    chooser: Ints
    kick_start: Ints
    kick_probability: Floats


def tables_of(rules: PackedRules) -> Tables:
    """Prepare packed rules for the compiled loops."""
    declared = rules.situation[:, 3] == 1
    rows, actions = np.nonzero(rules.legal)
    plays = rules.chart.plays
    calls = actions + ((actions == plays + 2) & declared[rows])
    contested = rules.legal[:, : plays + 1].sum(axis=1) + (rules.legal[:, plays + 2] & declared)
    choices = np.flatnonzero(rules.option[:, 0] >= 0)
    return Tables(
        row_start=np.concatenate(([0], np.cumsum(rules.legal.sum(axis=1)))).astype(np.int64),
        row_action=actions.astype(np.int64),
        row_call=calls.astype(np.int64),
        contested=contested.astype(np.int64),
        chosen_result=choices.astype(np.int64),
        option=rules.option[choices].astype(np.int64),
        chooser=rules.chooser[choices].astype(np.int64),
        kick_start=rules.kick_start.astype(np.int64),
        kick_probability=rules.kick_probability,
    )
