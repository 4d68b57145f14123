"""The package without any of its extras: it is imported, solves, samples and is played.

The code runs in a Python of its own in which nothing that an extra installs can be imported. Run
from an environment without extras, it says whether the declared dependencies are enough.
"""

import re
import tomllib
from itertools import chain
from pathlib import Path

from interpreters import fresh

ROOT = Path(__file__).parents[1]

CODE = """
import solvent
from solvent.games import FightingFantasy, Greed, Pig
from solvent.play import play

combat = FightingFantasy(stamina=4, opponent_stamina=4, luck=3)
table = solvent.compile_game(combat)
solution = solvent.solve(table)
assert solution.lower <= solution.value <= solution.upper
assert solvent.score(table, solution.policies[0], solution).optimality_gap < 1e-9
pig = solvent.solve(solvent.compile_game(Pig(target=5)))
assert 0.5 < pig.lower <= pig.upper < 1
solvent.solve(solvent.compile_game(Greed(5, 3)))

import gymnasium as gym

solvent.register_envs()
env = gym.make("solvent/FFCombat-v0")
observation, info = env.reset(seed=1)
ended = False
while not ended:
    observation, reward, ended, _, info = env.step(env.action_space.sample(info.get("action_mask")))
assert reward in (0, 1)
football = gym.make("solvent/FootballTwoMinutes-v0")
football.reset(seed=1)
football.step(0)

from solvent.envs.pettingzoo_games import greed

both = greed.env(limit=5, sides=3)
both.reset(seed=1)
for agent in both.agent_iter():
    seen, reward, ended, _, info = both.last()
    both.step(None if ended else both.action_space(agent).sample(seen["action_mask"]))

from solvent.tabular import curves, value_iteration

drawn = curves(table, {"sweeps": lambda rng: value_iteration(table)}, until=3)
assert drawn.svg("gap").startswith("<svg")

lines = []
record = play(combat, seed=1, input=lambda question: "0", output=lines.append)
assert record.result in (0, 1)
print("solved, sampled and played")
"""


IMPORTED_AS = {
    "open-spiel": "pyspiel",
    "pytest-xdist": "xdist",
    "pyyaml": "yaml",
    "scikit-learn": "sklearn",
    "types-pyyaml": "types_pyyaml",
}


def test_the_core_does_without_the_extras(tmp_path: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    lines = chain.from_iterable(project["optional-dependencies"].values())
    names = {re.split(r"[\[>=;]", line)[0] for line in lines} - {"solvent", "packaging"}
    blocked = [IMPORTED_AS.get(name, name.replace("-", "_")) for name in sorted(names)]
    assert {"torch", "rich", "yaml", "pydantic", "ray", "sklearn", "jinja2"} <= set(blocked)
    hide = f"import sys\nfor name in {blocked}:\n    sys.modules[name] = None\n"
    assert fresh(hide + CODE, cwd=tmp_path) == "solved, sampled and played\n"
