"""Books of any length in the manner of a printed one, made by chance: rules without a story.

The same arguments always give the same book, as data that JSON can hold.
"""

import json
import random
from typing import Any

from solvent.games.gamebook.book import Book
from solvent.games.gamebook.loader import parse_book

DISCIPLINES = ("hunting", "tracking", "healing", "stealth", "lore", "weaponry")

TABLE = {
    "columns": ["..-6", "-5..-1", "0..4", "5.."],
    "rows": {
        0: ["0/K", "2/6", "4/5", "6/3"],
        1: ["0/8", "3/5", "5/4", "7/2"],
        2: ["1/7", "4/5", "6/3", "8/2"],
        3: ["2/6", "5/4", "7/3", "9/2"],
        4: ["3/6", "6/4", "8/2", "10/1"],
        5: ["4/5", "7/3", "9/2", "11/1"],
        6: ["5/4", "8/2", "10/1", "12/0"],
        7: ["6/3", "9/2", "11/0", "14/0"],
        8: ["8/2", "10/1", "12/0", "16/0"],
        9: ["10/0", "12/0", "14/0", "K/0"],
    },
}


def generated_book(
    sections: int = 350, seed: int = 0, endurance: int = 25, *, rare: bool = False
) -> Book:
    """A book of so many sections; if asked for, with what few printed ones have.

    That is: losses besides and invulnerability in fights, division, probabilities of many digits,
    and flags that are set at the start. The rest of the book is drawn as without.
    """
    return parse_book(json.dumps(_Writer(sections, seed, endurance, rare).book()).encode())


class _Writer:
    def __init__(self, sections: int, seed: int, endurance: int, rare: bool) -> None:
        self.random = random.Random(seed)
        # Draws of its own, so that they do not change the others.
        self.rare = random.Random(f"rare {seed}") if rare else None
        self.sections = sections
        self.endurance = endurance
        self.reached = 1
        # Things to find, and up to where they are of use.
        self.flags = [f"flag{i}" for i in range(max(2, sections // 30))]
        self.items = [f"thing{i}" for i in range(max(2, sections // 50))]

    def book(self) -> dict[str, Any]:
        return {
            "format": "solvent-gamebook",
            "version": 1,
            "title": f"Generated, {self.sections} sections",
            "variables": {
                "skill": {"initial": 15, "max": 30},
                "endurance": {"initial": self.endurance, "max": self.endurance},
                "luck": {"initial": 7, "max": 12},
                "gold": {"initial": 6, "max": 6},
            },
            "flags": {name: self.rarely(0.5) or None for name in self.flags},
            "slots": {"belt": {"capacity": 2, "kinds": ["weapon"]}, "pack": {"capacity": 5}},
            "items": {
                "sword": {"slot": "belt", "kind": "weapon", "initial": 1, "max": 1},
                "axe": {"slot": "belt", "kind": "weapon", "max": 1},
                "meal": {"slot": "pack", "initial": 1, "max": 1},
                **{item: {"slot": "pack", "max": 1} for item in self.items},
            },
            "disciplines": {
                "pick": 1,
                "from": dict.fromkeys(DISCIPLINES[:1]),
                "known": dict.fromkeys(DISCIPLINES[1:]),
            },
            "combat": {
                "fighting-fantasy": {"skill": "skill - 7", "stamina": "endurance", "luck": "luck"},
                "results-table": {"skill": "skill", "endurance": "endurance", "table": TABLE},
            },
            "whenever": [{"when": "endurance <= 0", "ending": "death"}],
            "endings": {
                "victory": {"score": 1},
                "retreat": {"score": "1/4"},
                "death": {"score": 0},
            },
            "sections": {str(n): self.section(n) for n in range(1, self.sections + 1)},
        }

    def section(self, n: int) -> dict[str, Any]:
        if n == self.sections:
            return {"text": "The end.", "ending": "victory"}
        kinds = {
            self.choices: 34,
            self.passage: 14,
            self.roll: 14,
            self.check: 8,
            self.results_table: 12,
            self.fantasy: 1,
            self.shop: 1,
            self.meal: 5,
            self.branch: 6,
            self.repeat: 1,
        }
        [kind] = self.random.choices(list(kinds), list(kinds.values()))
        return {"text": f"Section {n}.", **kind(n)}

    def rarely(self, probability: float) -> bool:
        return self.rare is not None and self.rare.random() < probability

    def target(self, n: int) -> int:
        """A section further on; no section is left out."""
        if self.reached == n:
            self.reached = n + 1
            return n + 1
        target = min(n + self.random.randint(1, 7), self.reached + 1, self.sections)
        self.reached = max(self.reached, target)
        return target

    def local(self, names: list[str], n: int) -> str:
        """One of the names that are of use around here."""
        return names[n * len(names) // self.sections]

    def condition(self, n: int) -> str:
        return self.random.choice(
            [
                self.random.choice(DISCIPLINES),
                self.local(self.flags, n),
                self.local(self.items, n),
                "endurance >= 12",
            ]
        )

    def change(self, n: int) -> dict[str, Any]:
        usual = self.random.choice(
            [
                {"lose": {"endurance": self.random.randint(1, 4)}},
                {"lose": {"endurance": "1d6"}},
                {"gain": {"endurance": self.random.randint(2, 6)}},
                {"gain": {"endurance": 1}},
                {"lose": {"endurance": 2}},
                {"set": self.local(self.flags, n)},
                {"take": self.local(self.items, n)},
                {"drop": self.local(self.items, n)},
            ]
        )
        if self.rare is None or not self.rarely(0.3):
            return usual
        return self.rare.choice(
            [
                {"lose": {"endurance": "endurance // 2"}},
                {"set": {"endurance": "(endurance + luck) // (1 + 1d2)"}},
                {"gain": {"endurance": "-endurance // 3 + gold"}},
            ]
        )

    def passage(self, n: int) -> dict[str, Any]:
        if self.rare is not None and self.rarely(0.5):
            whole = self.rare.randint(10**15, 10**18)
            part, digits = self.rare.randint(1, whole - 1), self.rare.randint(1, 10**30 - 1)
            first, second = self.rare.choice(
                [
                    [f"{part}/{whole}", f"{whole - part}/{whole}"],
                    [f"0.{digits:030}", f"0.{10**30 - digits:030}"],
                ]
            )
            return {
                "chances": [
                    {"probability": first, "do": [self.change(n)], "goto": self.target(n)},
                    {"probability": second, "goto": self.target(n)},
                ]
            }
        return {"do": [self.change(n)], "goto": self.target(n)}

    def choices(self, n: int) -> dict[str, Any]:
        options = [{"label": "on", "goto": self.target(n)}]
        for i in range(self.random.randint(1, 2)):
            changes = [self.change(n) for _ in range(self.random.randint(0, 1))]
            option = {"label": f"way {i}", "do": changes, "goto": self.target(n)}
            if self.random.random() < 0.5:
                option["when"] = self.condition(n)
            options.append(option)
        if self.random.random() < 0.03:
            options.append({"label": "give up", "ending": "retreat"})
        return {"choices": options}

    def roll(self, n: int) -> dict[str, Any]:
        cut = self.random.randint(1, 7)
        bonus = f" + 2 * {self.random.choice(DISCIPLINES)}" if self.random.random() < 0.5 else ""
        return {
            "roll": {
                "dice": f"(digit + 5) // 2{bonus}" if self.rarely(0.4) else f"digit{bonus}",
                "results": {
                    f"..{cut}": {"do": [self.change(n)], "goto": self.target(n)},
                    f"{cut + 1}..": self.target(n),
                },
            }
        }

    def check(self, n: int) -> dict[str, Any]:
        return {
            "check": {
                "name": "test",
                "base": f"{self.random.randint(6, 17) * 5}%",
                "modifiers": [
                    {"name": "skill", "size": "+20%", "when": self.condition(n)},
                    {"name": "wounds", "size": "-15%", "when": "endurance < 8"},
                ],
                "success": self.target(n),
                "failure": {"do": [self.change(n)], "goto": self.target(n)},
            }
        }

    def results_table(self, n: int) -> dict[str, Any]:
        fight: dict[str, Any] = {
            "rules": "results-table",
            "enemies": [
                {
                    "name": "enemy",
                    "skill": self.random.randint(9, 16),
                    "endurance": self.random.randint(6, 20),
                }
                for _ in range(self.random.choice([1, 1, 1, 2, 3]))
            ],
            "bonuses": [
                {"name": "mastery", "size": 2, "when": "weaponry"},
                {"name": "bare hands", "size": -4, "when": "count(weapon) == 0"},
                {"name": "surprise", "size": 2, "rounds": "..2", "when": "stealth"},
            ],
            "victory": self.target(n),
        }
        if self.random.random() < 0.25:
            fight["escape"] = {
                "after": self.random.randint(0, 3),
                "parting": self.random.random() < 0.5,
                "goto": self.target(n),
            }
        if self.rare is not None and self.rarely(0.6):
            hero = self.rare.choice([1, "2 * (not lore)", f"1 + {self.local(self.flags, n)}"])
            fight["added"] = self.rare.choice(
                [{"hero": hero}, {"enemy": self.rare.choice([1, "stealth + lore"])}]
            )
        if self.rare is not None and self.rarely(0.6):
            fight["invulnerable"] = self.rare.choice(
                [{"rounds": "..2"}, {"rounds": 2, "when": self.local(self.flags, n)}]
            )
        return {"fight": fight}

    def fantasy(self, n: int) -> dict[str, Any]:
        return {
            "fight": {
                "rules": "fighting-fantasy",
                "enemies": [
                    {
                        "name": "enemy",
                        "skill": self.random.randint(5, 8),
                        "stamina": self.random.randint(3, 8),
                    }
                ],
                "victory": self.target(n),
            }
        }

    def shop(self, n: int) -> dict[str, Any]:
        return {
            "shop": {
                "money": "gold",
                "goods": [
                    {"item": "meal", "buy": 3},
                    {"item": self.local(self.items, n), "buy": 5, "quantity": 1},
                    {"item": "axe", "buy": 4, "sell": 2},
                ],
                "leave": self.target(n),
            }
        }

    def meal(self, n: int) -> dict[str, Any]:
        eat = {"item": "meal", "unless": "hunting", "hunger": {"endurance": 3}}
        rest = {"if": "healing", "then": [{"gain": {"endurance": 2}}]}
        return {"do": [{"eat": eat}, rest], "goto": self.target(n)}

    def branch(self, n: int) -> dict[str, Any]:
        case = {"when": self.condition(n), "do": [self.change(n)], "goto": self.target(n)}
        return {"branch": [case, {"goto": self.target(n)}]}

    def repeat(self, n: int) -> dict[str, Any]:
        lucky = {"do": [{"gain": {"gold": 4}}], "goto": self.target(n)}
        broke = {"branch": [{"when": "gold == 0", "goto": self.target(n)}, {"again": True}]}
        return {
            "repeat": {
                "do": [{"lose": {"gold": 1}}],
                "roll": {
                    "dice": "1d6",
                    "results": {"1..4": broke, "5": {"again": True}, "6": lucky},
                },
            }
        }
