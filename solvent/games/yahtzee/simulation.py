"""Episodes of Yahtzee that are sampled without a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from gymnasium import spaces

from solvent.envs.batch_simulator import Batch, BatchSimulator, check_range
from solvent.games.yahtzee import episode_kernel as kernel
from solvent.games.yahtzee.arrays import ROLLS, rules_arrays
from solvent.games.yahtzee.layers import YahtzeeLayers
from solvent.games.yahtzee.rules import OVER, Turn, Yahtzee
from solvent.model.arrays import Bools, Ints
from solvent.model.parameters import check_choice, check_integer

OBSERVATIONS = ("vector", "onehot")

TABLE_STATES = 20_000
"""A form with no more states is sampled from its table."""


class YahtzeeEpisodes(BatchSimulator):
    """A number of episodes of a form of Yahtzee.

    Args:
        game: The rules.
        n: How many episodes.
        observation: ``"vector"`` as the rules give it, or ``"onehot"``: in the place of the shares
            are indicators, of every number of points in the upper section.

    Attributes:
        records: [n] where each episode stands (:data:`~.episode_kernel.EPISODE`).
    """

    rules: Yahtzee

    def __init__(self, game: Yahtzee, n: int, observation: str = "vector") -> None:
        self.num_envs = check_integer(n, "num_envs", 1, 2**31 - 1)
        self.game, self.rules = None, game
        form = check_choice(observation, "observation", OBSERVATIONS)
        self._rules = rules_arrays(game)
        self._onehot = form == "onehot"
        self.shared = (self._rules,)
        width = kernel.width(self._rules, self._onehot)
        self.observation_space = spaces.Box(0.0, 1.0, (width,), np.float32)
        self.n_actions = len(game.info.actions[0])
        self.records = np.zeros(self.num_envs, kernel.EPISODE)
        self.records["over"] = True
        self.arrays = {name: self.records[name] for name in kernel.EPISODE.names or ()}
        self._everyone = np.arange(self.num_envs)

    def begin(self, chosen: Ints) -> None:
        kernel.begin(self._rules, chosen, self.records)

    def step(
        self,
        actions: Ints,
        reward: Batch,
        terminated: Bools,
        illegal: Bools,
        mask: Batch,
        observation: Batch,
    ) -> int:
        wrong = int(((actions < 0) | (actions >= self.n_actions)).sum())
        if wrong:
            return wrong
        told = reward, terminated, illegal
        kernel.step(self._rules, actions, self.records, *told)
        kernel.look(self._rules, self._everyone, self.records, self._onehot, observation, mask)
        return 0

    def look(self, chosen: Ints | None = None) -> tuple[Batch, Batch]:
        chosen = self._everyone if chosen is None else chosen
        seen = np.empty((len(chosen), *(self.observation_space.shape or ())), np.float32)
        mask = np.empty((len(chosen), self.n_actions), np.int8)
        kernel.look(self._rules, chosen, self.records, self._onehot, seen, mask)
        return seen, mask

    def over(self) -> Bools:
        over: Bools = self.records["over"]
        return over

    def state(self, i: int) -> Turn:
        at = {name: self.records[name].item(i) for name in kernel.EPISODE.names or ()}
        left = tuple(box for b, box in enumerate(self.rules.scorecard) if not at["filled"] >> b & 1)
        if not left:
            return OVER
        dice = tuple(self._rules.dice[at["roll"]].tolist()) if at["roll"] >= 0 else ()
        return Turn(dice, at["rolls"], left, at["upper"], bool(at["bonus"]))

    def examples(self) -> Sequence[Turn]:
        return drawn_states(self.rules)

    def check_values(self, saved: Mapping[str, Batch]) -> None:
        limits = {
            "filled": 1 << len(self.rules.scorecard),
            "upper": self.rules.bonus_at + 1,
            "bonus": 2,
            "rolls": int(self._rules.number[ROLLS]) + 1,
        }
        for name, count in limits.items():
            check_range(f"{name} goes", saved[name], count)
        roll, rolls = saved["roll"], len(self._rules.face)
        if ((roll < -1) | (roll >= rolls)).any():
            raise ValueError(
                f"saved roll goes from {roll.min()} to {roll.max()}; allowed are -1 to {rolls - 1}"
            )


class YahtzeeSampler:
    """A form of Yahtzee from which episodes are made.

    Args:
        rules: The game.
    """

    def __init__(self, rules: Yahtzee) -> None:
        self.rules = rules

    def episodes(self, n: int, observation: str = "vector") -> YahtzeeEpisodes:
        """Episodes that have not begun; the arguments are those of :class:`YahtzeeEpisodes`."""
        return YahtzeeEpisodes(self.rules, n, observation)

    def examples(self) -> Sequence[Turn]:
        """States among which the largest drawings are."""
        return drawn_states(self.rules)


def drawn_states(game: Yahtzee) -> Sequence[Turn]:
    """States among which the largest drawings are.

    Args:
        game: The rules.
    """
    dice, boxes = (game.faces,) * game.dice, game.scorecard
    return [Turn(dice, game.rolls - 1, boxes, game.bonus_at, bonus) for bonus in (False, True)]


def sampler_of(game: Yahtzee) -> YahtzeeSampler | None:
    """What samples a form of Yahtzee; None for one small enough for a table."""
    layers = YahtzeeLayers(game)
    states = layers.n_states * (1 + game.rolls * len(layers.rules.face))
    return YahtzeeSampler(game) if states > TABLE_STATES else None
