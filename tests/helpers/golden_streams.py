"""What version 0.1 did at fixed seeds: the streams of its environments and its short trainings.

A case says what is made and how it is run, by public entry points only, so that it can be run on
any later version. What came out under version 0.1 is in ``tests/golden/0.1/``; what comes out now
is compared with it.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import gymnasium as gym
import numpy as np
import pettingzoo
from commands import said

import solvent

GOLDEN = Path(__file__).parents[1] / "golden" / "0.1"
CHANGED = GOLDEN.parent / "0.2"
"""What version 0.2 says otherwise, and nothing else. The optimal player of football with a clock
may choose another of several optimal strategies, so what is scored against it differs; and a
network is evaluated for more states at a time, so float32 is summed in another order."""

CHANGED_IN_0_3 = GOLDEN.parent / "0.3"
"""The same for version 0.3. Football without a clock has another solver, so that its optimal
player, too, may choose another of several optimal strategies."""

STEPS = 300
VECTOR_STEPS = 120
SEED = 11
LEGAL = 0.9
"""The share of actions that are drawn from the legal ones; the others are drawn from all."""

# Football on 8 yards with two downs, with the calls of the standard chart.
RULES: dict[str, Any] = {
    "field": 8,
    "downs": 2,
    "first_down": 3,
    "field_goals": {"2": "3/4", "4": "1/4"},
    "field_goal_spot": 1,
    "touchback": 2,
    "fake_punt_penalty": 1,
    "blocked_punt_loss": 2,
    "barred": [],
    "long_gain": {"4": 2, "8": 1},
    "kickoff": {"3": 5, "kicker 2": 1, "long": 2},
    "onside": {"kicker 5": 1, "6": 2},
    "free_kick": {"4": 3, "long+1": 1},
    "long_play": 3,
}
CLOCK: dict[str, Any] = {"half": 90, "stops": [30], "timeouts": 1, "largest_margin": 8}
TIMED: dict[str, Any] = {"ruleset": RULES, "clock": CLOCK}
TWO_MINUTES: dict[str, Any] = {**TIMED, "to_goal": 5}
DRIVE: dict[str, Any] = {
    "ruleset": RULES,
    "expected_points": str(GOLDEN / "points.json"),
    "to_goal": 5,
}
GREED: dict[str, Any] = {"limit": 12, "sides": 4}
FEW_FIGHTS: dict[str, Any] = {"stamina": [2, 6], "opponent_stamina": 6, "luck": [0, 4]}


class Stream(NamedTuple):
    """Environments that are stepped with random actions.

    Attributes:
        make: ``"gym"`` for `gym.make` and `gym.make_vec`, ``"aec"`` or ``"parallel"`` for
            PettingZoo's.
        id: The environment's.
        arguments: The environment's own.
        slow: Whether making it takes seconds.
    """

    make: str
    id: str
    arguments: Mapping[str, Any] = {}
    slow: bool = False

    @property
    def name(self) -> str:
        """How the case is called, in tests and in the file of what came out."""
        shown = ", ".join(
            f"{name} {str(value).removeprefix(str(GOLDEN))}"
            for name, value in self.arguments.items()
            if name not in ("ruleset", "clock", "expected_points")
        )
        return f"{self.make} {self.id}" + (f" ({shown})" if shown else "")


STREAMS = (
    Stream("gym", "solvent/FFCombat-v0"),
    Stream("gym", "solvent/FFCombat-v0", {"observation": "onehot"}),
    Stream("gym", "solvent/FFCombat-v0", {"observation": "index"}),
    Stream("gym", "solvent/FFCombat-v0", {"modifiers": {"luck": -0.15}}),
    Stream("gym", "solvent/FFCombatRandom-v0", FEW_FIGHTS),
    Stream("gym", "solvent/FFCombatRandom-v0", slow=True),
    Stream("gym", "solvent/Gamebook-v0"),
    Stream("gym", "solvent/Gamebook-v0", {"observation": "onehot"}),
    Stream("gym", "solvent/NinthTide-v0", {"book": "red-lamp"}),
    Stream("gym", "solvent/NinthTide-v0", slow=True),
    Stream("gym", "solvent/FootballDrive-v0", {"start": 20, "field": 20}),
    Stream("gym", "solvent/FootballDrive-v0", slow=True),
    Stream("gym", "solvent/Greed-v0", GREED),
    Stream("gym", "solvent/Greed-v0", {**GREED, "seat": 1, "observation": "index"}),
    Stream("gym", "solvent/Greed-v0", {**GREED, "seat": "random", "observation": "onehot"}),
    Stream("gym", "solvent/Greed-v0", {**GREED, "opponent": "uniform"}),
    Stream(
        "gym",
        "solvent/Greed-v0",
        {**GREED, "opponent": {"optimal": 1, "uniform": 3}, "seat": "random"},
    ),
    Stream("gym", "solvent/Greed-v0", {**GREED, "opponent": str(GOLDEN / "policy_1.npz")}),
    Stream("gym", "solvent/Greed-v0", slow=True),
    Stream("gym", "solvent/FootballAgent-v0", DRIVE),
    Stream("gym", "solvent/FootballAgent-v0", slow=True),
    Stream("gym", "solvent/FootballStrategy-v0", {**DRIVE, "opponent": "uniform"}),
    Stream(
        "gym",
        "solvent/FootballStrategy-v0",
        {**DRIVE, "opponent": {"uniform": 1, "paper-agent": 2}},
    ),
    Stream(
        "gym",
        "solvent/FootballStrategy-v0",
        {**DRIVE, "seat": 1, "observation": "onehot"},
    ),
    Stream("gym", "solvent/FootballStrategy-v0", slow=True),
    Stream("gym", "solvent/FootballTwoMinutes-v0"),
    Stream("gym", "solvent/FootballTwoMinutes-v0", {**TWO_MINUTES, "opponent": "optimal"}),
    Stream("gym", "solvent/FootballTwoMinutes-v0", {**TWO_MINUTES, "opponent": "paper-agent"}),
    Stream("gym", "solvent/FootballTwoMinutes-v0", {"opponent": "paper-agent"}, slow=True),
    Stream(
        "gym",
        "solvent/FootballTwoMinutes-v0",
        {**TWO_MINUTES, "opponent": {"optimal": 1, "uniform": 1}, "seat": "random"},
    ),
    Stream(
        "gym",
        "solvent/FootballTwoMinutes-v0",
        {**TWO_MINUTES, "opponent": str(GOLDEN / "two-minutes" / "network.npz")},
    ),
    Stream("gym", "solvent/FootballHalf-v0", slow=True),
    Stream("gym", "solvent/FootballHalf-v0", {**TIMED, "seat": 1, "observation": "onehot"}),
    Stream("gym", "solvent/FootballSecondHalf-v0", slow=True),
    Stream("gym", "solvent/FootballSecondHalf-v0", {**TIMED, "seat": "random", "margin": -3}),
    Stream("gym", "solvent/FootballGame-v0", slow=True),
    Stream("gym", "solvent/FootballGame-v0", {**TIMED, "observation": "onehot"}),
    Stream("aec", "solvent/greed-v0", GREED),
    Stream("aec", "solvent/greed-v0", {**GREED, "observation": "index"}),
    Stream("aec", "solvent/greed-v0", slow=True),
    Stream("aec", "solvent/pig-v0"),
    Stream("aec", "solvent/pig-v0", {"target": 12, "observation": "onehot"}),
    Stream("aec", "solvent/football-strategy-v0", DRIVE),
    Stream("aec", "solvent/football-strategy-v0", {**TIMED, "form": "half"}),
    Stream("parallel", "solvent/football-strategy-v0", slow=True),
    Stream("parallel", "solvent/football-strategy-v0", {**DRIVE, "observation": "onehot"}),
    Stream("parallel", "solvent/football-strategy-v0", {**TIMED, "form": "half"}),
    Stream("parallel", "solvent/football-strategy-v0", {**TWO_MINUTES, "form": "two-minutes"}),
)


class Record:
    """SHA-256 of everything of a kind that environments have said."""

    def __init__(self) -> None:
        self._digests: dict[str, Any] = {}

    def add(self, **said: Any) -> None:
        """Add what was said now, types and shapes included."""
        for kind, value in said.items():
            array = np.ascontiguousarray(value)
            digest = self._digests.setdefault(kind, hashlib.sha256())
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(array.astype(array.dtype.newbyteorder("<")).tobytes())

    def hex(self) -> dict[str, str]:
        """The digests, shortened."""
        return {kind: digest.hexdigest()[:24] for kind, digest in self._digests.items()}


def any_action(rng: np.random.Generator, mask: Any) -> Any:
    """Random actions, mostly legal: an integer for a mask [A], integers [n] for masks [n, A]."""
    mask = np.asarray(mask)
    keep = (rng.random(mask.shape[:-1]) < LEGAL)[..., None]
    return np.argmax(rng.random(mask.shape) + (mask != 0) * keep, axis=-1)


def run_stream(case: Stream) -> dict[str, dict[str, str]]:
    """What a case's environments say, by the way in which they are made."""
    if case.make == "gym":
        return {
            "make": _single(case),
            "make_vec": _vector(case),
            "make_vec, SameStep": _vector(case, autoreset_mode="SameStep"),
        }
    run = {"aec": _aec, "parallel": _parallel}[case.make]
    return {"make": run(pettingzoo.make(case.make, case.id, **case.arguments))}


def _single(case: Stream) -> dict[str, str]:
    env, record, rng = gym.make(case.id, **case.arguments), Record(), np.random.default_rng(SEED)
    seen, info = env.reset(seed=SEED)
    for _ in range(STEPS):
        record.add(observations=seen, masks=info["action_mask"], illegal=info["illegal_action"])
        seen, reward, terminated, truncated, info = env.step(
            int(any_action(rng, info["action_mask"]))
        )
        record.add(rewards=reward, ends=[terminated, truncated])
        if terminated:
            record.add(observations=seen, masks=info["action_mask"])
            seen, info = env.reset()
    env.close()
    return record.hex()


def _vector(case: Stream, **arguments: Any) -> dict[str, str]:
    envs = gym.make_vec(case.id, num_envs=3, **arguments, **case.arguments)
    record, rng = Record(), np.random.default_rng(SEED)
    seen, info = envs.reset(seed=SEED)
    for _ in range(VECTOR_STEPS):
        record.add(observations=seen, masks=info["action_mask"], illegal=info["illegal_action"])
        seen, reward, terminated, truncated, info = envs.step(any_action(rng, info["action_mask"]))
        record.add(rewards=reward, ends=[terminated, truncated])
        for i in np.flatnonzero(terminated):
            if "final_obs" in info:
                record.add(final=info["final_obs"][i])
    envs.close()
    return record.hex()


def _aec(env: Any) -> dict[str, str]:
    record, rng, left, seed = Record(), np.random.default_rng(SEED), STEPS, SEED
    while left > 0:
        env.reset(seed=seed)
        for agent in env.agent_iter():
            seen, reward, terminated, truncated, _ = env.last()
            over = terminated or truncated
            record.add(
                agents=env.possible_agents.index(agent),
                observations=seen["observation"],
                masks=seen["action_mask"],
                rewards=float(reward),
                ends=[terminated, truncated],
            )
            env.step(None if over else int(any_action(rng, seen["action_mask"])))
            left -= 1
        seed = None  # Later plays go on with the stream.
    env.close()
    return record.hex()


def _parallel(env: Any) -> dict[str, str]:
    record, rng = Record(), np.random.default_rng(SEED)
    seen, _ = env.reset(seed=SEED)
    for _ in range(STEPS):
        for agent in env.possible_agents:
            record.add(observations=seen[agent]["observation"], masks=seen[agent]["action_mask"])
        actions = {a: int(any_action(rng, seen[a]["action_mask"])) for a in env.agents}
        seen, rewards, terminated, truncated, _ = env.step(actions)
        for agent in env.possible_agents:
            record.add(rewards=float(rewards[agent]), ends=[terminated[agent], truncated[agent]])
        if not env.agents:
            seen, _ = env.reset()
    env.close()
    return record.hex()


PPO: dict[str, Any] = {"n_envs": 16, "n_steps": 16, "batch_size": 64, "n_epochs": 2}
# As combat was tuned in 0.1.
FF_PPO: dict[str, Any] = {**PPO, "clip_range": "lin_0.2"}
DQN: dict[str, Any] = {
    "n_envs": 16,
    "batch_size": 32,
    "buffer_size": 400,
    "learning_starts": 64,
    "train_freq": 1,
    "gradient_steps": 1,
}
MIRROR: dict[str, Any] = {"n_envs": 64, "n_steps": 4, "batch_size": 64}
FF, GREED_ID, FOOTBALL = "solvent/FFCombat-v0", "solvent/Greed-v0", "solvent/FootballStrategy-v0"
TWO_MINUTES_ID = "solvent/FootballTwoMinutes-v0"
FIGHT: dict[str, Any] = {"stamina": 4, "opponent_stamina": 6, "luck": 3}
BOARD: dict[str, Any] = {"limit": 8, "sides": 3}
BOTH: dict[str, Any] = {"self_play": True, "timesteps": 1024, "refresh": 256}


def trained(
    folder: Path, game: Any, algorithm: str, env_kwargs: Mapping[str, Any], **arguments: Any
) -> Any:
    """Train for 512 steps, evaluated twice, if the arguments do not say otherwise."""
    from solvent.training import train

    usual = {"seed": 3, "timesteps": 512, "evaluations": 2, "hyperparameters": PPO}
    arguments = {"progress": False, **usual, **arguments}
    return train(game, algorithm, folder=folder, env_kwargs=env_kwargs, **arguments)


def options(parameters: Mapping[str, Any]) -> Iterable[str]:
    """Parameters as words of a command."""
    for name, value in parameters.items():
        yield f"--{name.replace('_', '-')}"
        yield value if isinstance(value, str) else json.dumps(value)


def by_command(folder: Path, *words: str) -> None:
    """Train on two minutes by ``solvent train``."""
    steps = ["--algorithm", "maskable_ppo", "--seed", "3", "--timesteps", "512"]
    said("train", TWO_MINUTES_ID, *steps, *words, *options(TWO_MINUTES), "--out", folder)


TRAININGS: dict[str, Callable[[Path], Any]] = {
    "ppo": lambda to: trained(to, FF, "ppo", FIGHT, hyperparameters=FF_PPO),
    "maskable_ppo": lambda to: trained(to, FF, "maskable_ppo", FIGHT, hyperparameters=FF_PPO),
    "dqn": lambda to: trained(to, FF, "dqn", FIGHT, hyperparameters=DQN),
    "masked_dqn": lambda to: trained(to, FF, "masked_dqn", FIGHT, hyperparameters=DQN),
    "ppo, stakes": lambda to: trained(
        to, FF, "ppo", FIGHT, hyperparameters=FF_PPO,
        exploring_starts=0.5, start_weights="importance",
    ),
    "ppo on a seat": lambda to: trained(to, GREED_ID, "ppo", BOARD),
    "maskable_ppo on a seat, several opponents": lambda to: trained(
        to, GREED_ID, "maskable_ppo",
        {**BOARD, "seat": 1, "opponent": {"optimal": 1, "uniform": 2}},
    ),
    "ppo, self-play on greed": lambda to: trained(
        to, GREED_ID, "ppo", BOARD, snapshots=2, **BOTH
    ),
    "masked_dqn, self-play on greed": lambda to: trained(
        to, GREED_ID, "masked_dqn", BOARD, hyperparameters=DQN, **BOTH
    ),
    "maskable_ppo, self-play on pig": lambda to: trained(
        to, solvent.make_game("pig", target=5), "maskable_ppo", {}, evaluations=1, **BOTH
    ),
    "maskable_ppo, self-play on football": lambda to: trained(
        to, FOOTBALL, "maskable_ppo", DRIVE, **BOTH
    ),
    "mirror_descent, self-play on football": lambda to: trained(
        to, FOOTBALL, "mirror_descent", DRIVE, hyperparameters=MIRROR, **BOTH
    ),
    "maskable_ppo, two minutes": lambda to: by_command(to, "--opponent", "uniform"),
    "maskable_ppo, self-play on two minutes, 512 steps": lambda to: by_command(to, "--self-play"),
}  # fmt: skip
"""Short trainings, by the names under which version 0.1 ran them."""

SLOW = {
    "maskable_ppo",
    "dqn",
    "ppo on a seat",
    "ppo, self-play on greed",
    "maskable_ppo, self-play on pig",
    "maskable_ppo, self-play on football",
}
"""Trainings that take more than some seconds, or are quick and much like another one."""


def parameters_of(folder: Path) -> dict[str, Any]:
    """Figures of a trained network's parameters, by the name that torch has for them.

    They are read from Stable-Baselines3's own file, so that no code of the project takes part.

    Returns:
        Of each array its sum, the sum of its squares, and its first entry.
    """
    import torch

    with zipfile.ZipFile(folder / "model.zip") as archive:
        state = torch.load(io.BytesIO(archive.read("policy.pth")), weights_only=True)
    arrays = {name: value.double().numpy() for name, value in state.items()}
    return {
        name: [round(float(x), 6) for x in (a.sum(), (a**2).sum(), a.flat[0])]
        for name, a in arrays.items()
    }
