"""Pictures of the games for the pages: an episode of optimal play for each, as an animation.

    python docs/scripts/images.py [NAME ...]

writes ``docs/images/NAME.gif``, of all games or of those that are named. Every frame is what an
environment with ``render_mode="rgb_array"`` returns in that state. At equal versions the files are
equal byte for byte.
"""

import random
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from PIL import Image

import solvent
from solvent.envs.rendering import Screen

IMAGES = Path(__file__).parents[1] / "images"
WIDTH = 800
"""The largest, in pixels."""

COLOURS = 32


class Picture(NamedTuple):
    """What is played.

    Attributes:
        game: A name that ``make_game`` knows.
        parameters: Those of the game.
        seed: Of the episode, chosen so that it is worth a look.
        seconds: How long a state is shown; the last one, three times as long.
    """

    game: str
    parameters: Mapping[str, Any]
    seed: int
    seconds: float = 1.0


THREE_MINUTES = {"half": 180, "stops": [], "timeouts": 0}

PICTURES = {
    "fighting-fantasy": Picture("ff-combat", {}, 1),
    "football-drive": Picture("football-drive", {}, 16),
    "football-strategy": Picture("football-strategy", {}, 12),
    "football-clock": Picture(
        "football-strategy", {"form": "second-half", "margin": -3, "clock": THREE_MINUTES}, 22
    ),
    "gamebook": Picture("gamebook", {"book": "red-lamp"}, 1, seconds=2.5),
    "greed": Picture("greed", {}, 12),
    "pig": Picture("pig", {"target": 40}, 3),
}


def episode(game: solvent.Game, picture: Picture) -> Iterator[Any]:
    """The states of an episode in which every player follows an optimal policy."""
    solution = solvent.solve(game)
    chance = random.Random(picture.seed)

    def draw(weights: Mapping[Any, float]) -> Any:
        return chance.choices(list(weights), list(map(float, weights.values())))[0]

    branches = game.initial()
    while True:
        [branch] = chance.choices(branches, [float(b.probability) for b in branches])
        yield branch.state
        if game.is_terminal(branch.state):
            return
        actions = tuple(draw(solution.policy(branch.state, p)) for p in range(game.info.players))
        branches = game.transition(branch.state, actions)


def write(name: str, picture: Picture) -> Path:
    """Play the episode and write its animation."""
    game = solvent.make_game(picture.game, **picture.parameters)
    states = list(episode(game, picture))
    screen = Screen(game, states)
    drawings = dict.fromkeys(map(game.draw, states))  # what looks the same is shown once
    frames = [Image.fromarray(screen.picture(text)) for text in drawings]
    if (full := frames[0].width) > WIDTH:
        size = WIDTH, round(frames[0].height * WIDTH / full)
        frames = [f.resize(size, Image.Resampling.LANCZOS) for f in frames]
    width, height = frames[0].size
    # One palette for all, so that colours do not flicker.
    strip = Image.new("RGB", (width, height * len(frames)))
    for i, frame in enumerate(frames):
        strip.paste(frame, (0, height * i))
    palette = strip.quantize(COLOURS)
    first, *others = (f.quantize(palette=palette, dither=Image.Dither.NONE) for f in frames)
    file = IMAGES / f"{name}.gif"
    file.parent.mkdir(exist_ok=True)
    milliseconds = round(1000 * picture.seconds)
    durations = [milliseconds] * len(others) + [3 * milliseconds]
    first.save(file, save_all=True, append_images=others, duration=durations, loop=0)
    return file


if __name__ == "__main__":
    for name in sys.argv[1:] or PICTURES:
        file = write(name, PICTURES[name])
        print(file, f"{file.stat().st_size / 1000:.0f} kB")
