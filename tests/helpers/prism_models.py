"""Models of the Quantitative Verification Benchmark Set, written anew, with their published values.

The set is Hartmanns, Klauck, Parker, Quatmann and Ruijters 2019, "The Quantitative Verification
Benchmark Set" (TACAS), https://qcomp.org/benchmarks; numbers of states and values are those of its
``index.json`` and of its reference results by Storm in exact arithmetic. The die is from PRISM's
tutorial. Models of the same protocol with the same number of states are taken to be the same; the
two that differ there start elsewhere (Herman's ring has all configurations as starts there, and
reports the worst) or have other variables (the coupons are a program there).
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

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
