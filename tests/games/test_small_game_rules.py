"""The rules of the small games, each sentence with examples of it."""

from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import Any

from refusals import assert_refused

from solvent import games
from solvent.games import (
    Blackjack,
    Blotto,
    CarRental,
    Corridor,
    DynaMaze,
    EquipmentReplacement,
    FightingFantasy,
    Gambler,
    Goofspiel,
    Greed,
    Gridworld,
    Inventory,
    Nim,
    Pig,
    Racetrack,
    RandomWalk,
    RockPaperScissors,
    Soccer,
    TicTacToe,
    WindyGridworld,
)
from solvent.games.blackjack import HIT, OVER, STICK
from solvent.games.racetrack import ACTIONS, FINISHED
from solvent.games.soccer import DRAWN, OFF, PLAYING

HALF, THIRD, QUARTER, CARD = (Fraction(1, n) for n in (2, 3, 4, 13))

# A rule, a game, a state, the joint action by names or numbers, and the outcomes.
Row = tuple[str, Any, tuple[Any, ...], Any, tuple[Any, ...]]


def sure(rule: str, game: Any, *moves: tuple[Any, ...], reward: int = 0) -> list[Row]:
    """Rows of a game for one, of moves (state, action, next state) without chance."""
    return [(rule, game, state, (a,), ((1, after, reward),)) for state, a, after in moves]


def steer(up: int, right: int) -> int:
    """The action that changes the velocity of a car."""
    return ACTIONS.index((up, right))


def driven(rule: str, track: tuple[str, ...], car: tuple[int, ...], *after: Any) -> Row:
    """A row of a car that keeps its velocity, and comes to one of some states by chance."""
    chance = Fraction(1, len(after))
    outcomes = tuple((chance, to, -1) for to in after)
    return rule, Racetrack(track, noise=0), car, (steer(0, 0),), outcomes


def pitch(first: tuple[int, int], second: tuple[int, int], ball: int) -> tuple[Any, ...]:
    return first, second, ball, PLAYING


def scored(player: int) -> tuple[Any, ...]:
    return OFF, OFF, -1, player


def rolled(player: int, phase: str, score: int) -> tuple[Any, ...]:
    """Where a player of Greed comes to by reaching a score, the other having 3."""
    scores = (score, 3)[:: 1 - 2 * player]
    return (1 - player, scores, "play") if phase == "play" else (0, scores, "over")


ROOM = ("......F", "......F", "......F", "S.....F")
WEAR = EquipmentReplacement(horizon=3, worst=3, wearing=[1, 2, 1], scrap=2)
FOUR_SIDES, SIGNED = Pig(target=10, sides=4), Pig(target=10, sides=4, signed=True)
GUSTS = WindyGridworld("king", stochastic=True)
RATED = RockPaperScissors([5, 7, 9])
CORRIDOR = Corridor(rooms=5, doors=3)
# Parameters of a combat, the STAMINA and LUCK that are left, and what the victory counts.
VICTORIES: list[tuple[dict[str, Any], int, int, Any]] = [
    ({}, 1, 0, 1),
    ({"stamina_above": 3}, 3, 5, 0),
    ({"stamina_above": 3}, 4, 5, 1),
    ({"luck_above": 3}, 9, 3, 0),
    ({"luck_above": 3}, 9, 4, 1),
    ({"stamina_above": 3, "luck_above": 3}, 4, 3, 0),
    ({"stamina_weight": "1/7"}, 3, 5, Fraction(10, 7)),
    ({"luck_weight": 0.1}, 3, 5, Fraction(3, 2)),
    ({"stamina_weight": 1, "luck_weight": 0.1}, 3, 5, Fraction(9, 2)),
    ({"stamina_weight": 1, "stamina_above": 3}, 3, 5, 0),
    ({"stamina_weight": 1, "stamina_above": 3}, 4, 5, 5),
]
FIVES, POSTS = Blotto([5, 5], 3), Blotto([4, 3], 2, spoils=True)
EVERY = (1, 2, 3)
DRAW = Fraction(1, 10)

MOVES: list[Row] = [
    *sure(
        "the wind of the column that is left shifts upward",
        WindyGridworld(),
        ((3, 0), "right", (3, 1)),
        ((3, 1), "up", (2, 1)),
        ((3, 1), "down", (4, 1)),
        ((3, 3), "left", (2, 2)),
        ((3, 3), "right", (2, 4)),
        # The book's own example: from the right of the goal, left leads to the cell above it.
        ((3, 8), "left", (2, 7)),
        ((4, 6), "down", (3, 6)),
        ((4, 6), "up", (1, 6)),
        reward=-1,
    ),
    *sure(
        "nothing leads off the board",
        WindyGridworld(),
        ((3, 0), "left", (3, 0)),
        ((0, 9), "right", (0, 9)),
        ((6, 0), "down", (6, 0)),
        ((1, 7), "up", (0, 7)),
        reward=-1,
    ),
    (
        "a stochastic wind varies by a cell",
        GUSTS,
        (3, 3),
        ("right",),
        tuple((THIRD, (row, 4), -1) for row in (1, 2, 3)),
    ),
    ("where there is any", GUSTS, (3, 0), ("right",), ((1, (3, 1), -1),)),
    (
        "winds of 2 and 3 both lead to the upper edge",
        GUSTS,
        (2, 6),
        ("right",),
        ((2 * THIRD, (0, 7), -1), (THIRD, (1, 7), -1)),
    ),
    *sure(
        "a king moves diagonally, too",
        WindyGridworld("nine"),
        ((3, 1), "up right", (2, 2)),
        ((3, 1), "up left", (2, 0)),
        ((3, 1), "down right", (4, 2)),
        ((3, 1), "down left", (4, 0)),
        ((3, 1), "stay", (3, 1)),
        reward=-1,
    ),
    *sure(
        "a move leads to the next cell unless there is none",
        DynaMaze(),
        ((2, 0), "up", (1, 0)),
        ((2, 0), "down", (3, 0)),
        ((2, 0), "right", (2, 1)),
        ((2, 1), "left", (2, 0)),
        # Off the board, and into a wall.
        ((2, 0), "left", (2, 0)),
        ((0, 0), "up", (0, 0)),
        ((5, 8), "down", (5, 8)),
        ((3, 8), "right", (3, 8)),
        ((2, 1), "right", (2, 1)),
    ),
    *sure("only the goal pays", DynaMaze(), ((1, 8), "up", (0, 8)), reward=1),
    *sure(
        "a move leads to the next cell",
        Gridworld(),
        ((2, 2), "north", (1, 2)),
        ((2, 2), "south", (3, 2)),
        ((2, 2), "east", (2, 3)),
        ((2, 2), "west", (2, 1)),
    ),
    *sure(
        "or bumps into the edge for 1",
        Gridworld(),
        ((0, 2), "north", (0, 2)),
        ((4, 0), "south", (4, 0)),
        ((3, 4), "east", (3, 4)),
        ((4, 0), "west", (4, 0)),
        reward=-1,
    ),
    *(
        row
        for cell, after, reward in (((0, 1), (4, 1), 10), ((0, 3), (2, 3), 5))
        for action in range(4)
        for row in sure(
            "any move from A or B jumps and pays", Gridworld(), (cell, action, after), reward=reward
        )
    ),
    (
        "the walk goes left or right by chance",
        RandomWalk(5, -1),
        (2,),
        ("go on",),
        ((HALF, (1,), 0), (HALF, (3,), 0)),
    ),
    *(
        (
            f"leaving pays {left} on the left",
            RandomWalk(5, left),
            (1,),
            (0,),
            ((HALF, (0,), left), (HALF, (2,), 0)),
        )
        for left in (0, -1)
    ),
    (
        "and 1 on the right",
        RandomWalk(),
        (5,),
        (0,),
        ((HALF, (4,), 0), (HALF, (6,), 1)),
    ),
    (
        "heads pays the stake and tails loses it",
        Gambler(goal=10),
        (4,),
        ("stake 3",),
        ((Fraction(2, 5), (7,), 0), (Fraction(3, 5), (1,), 0)),
    ),
    (
        "the goal pays 1",
        Gambler(goal=10),
        (5,),
        ("stake 5",),
        ((Fraction(2, 5), (10,), 1), (Fraction(3, 5), (0,), 0)),
    ),
    (
        "an action changes nothing with the probability of the noise",
        Racetrack(ROOM),
        (3, 0, 1, 0),
        (steer(0, 1),),
        ((9 * DRAW, (2, 1, 1, 1), -1), (DRAW, (2, 0, 1, 0), -1)),
    ),
    (
        "without velocity the car stays",
        Racetrack(ROOM),
        (3, 0, 0, 0),
        (steer(0, 0),),
        ((1, (3, 0, 0, 0), -1),),
    ),
    *(
        driven("over the finish the episode ends", ROOM, car, FINISHED)
        for car in ((1, 5, 0, 1), (1, 4, 0, 4), (2, 4, 2, 3))
    ),
    driven("off the track the car begins anew", ROOM, (1, 1, 2, 0), (3, 0, 0, 0)),
    driven("off the track the car begins anew", ROOM, (0, 1, 1, 1), (3, 0, 0, 0)),
    driven("anywhere on the line", ("S.#F", "S..F"), (0, 1, 0, 1), (0, 0, 0, 0), (1, 0, 0, 0)),
    driven("what is on the way counts", ("..F", "#..", "S.."), (2, 0, 2, 0), (2, 0, 0, 0)),
    driven("a finish before the edge, too", (".F#", "...", "S.."), (0, 0, 0, 2), FINISHED),
    # With 1 up and 2 to the right the car is half a cell up after the first part, so one.
    driven("and where the move ends", ("..F", "..F", "S.F"), (2, 0, 0, 2), FINISHED),
    driven("halves are up", ("..#F", "#..F", "S..F"), (2, 0, 1, 2), (1, 2, 1, 2)),
    driven("halves are up", ("...F", "...F", "S.#F"), (2, 0, 1, 2), (1, 2, 1, 2)),
    driven("halves are up", ("...F", ".#.F", "S..F"), (2, 0, 1, 2), (2, 0, 0, 0)),
    (
        "going on costs by the wear, and wears",
        WEAR,
        (3, 1),
        ("operate",),
        ((QUARTER, (2, 1), 8), (HALF, (2, 2), 8), (QUARTER, (2, 3), 8)),
    ),
    ("the worst wear is not exceeded", WEAR, (3, 3), ("operate",), ((1, (2, 3), 4),)),
    (
        "a new machine is paid for and wears from 0",
        WEAR,
        (3, 3),
        ("replace",),
        ((QUARTER, (2, 0), -2), (HALF, (2, 1), -2), (QUARTER, (2, 2), -2)),
    ),
    (
        "after the last period the machine is scrapped",
        WEAR,
        (1, 1),
        ("operate",),
        ((QUARTER, (0, 1), 8 + 1), (HALF, (0, 2), 8), (QUARTER, (0, 3), 8)),
    ),
    (
        # Orders of 1 cost 4 + 2, goods of 2 cost 2, each that is sold brings 8.
        "what is demanded is sold",
        Inventory(),
        (2, 1),
        ("order 1",),
        ((QUARTER, (1, 2), -8), (HALF, (1, 1), 0), (QUARTER, (1, 0), 8)),
    ),
    (
        "as far as it lasts",
        Inventory(),
        (1, 1),
        ("order 0",),
        ((QUARTER, (0, 1), -1), (3 * QUARTER, (0, 0), 7)),
    ),
    *(
        row
        for player in (0, 1)
        for row in (
            (
                "a 1 loses the turn and anything else is added",
                FOUR_SIDES,
                (player, (1, 2), 3),
                ("roll", "roll"),
                (
                    (QUARTER, (1 - player, (1, 2), 0), 0),
                    *((QUARTER, (player, (1, 2), 3 + face), 0) for face in (2, 3, 4)),
                ),
            ),
            (
                "holding banks the total and passes the die",
                FOUR_SIDES,
                (player, (1, 2), 4),
                (("hold", "roll"), ("roll", "hold"))[player],
                ((1, (1 - player, ((5, 2), (1, 6))[player], 0), 0),),
            ),
            *(
                (
                    # A 3 reaches the target, a 4 goes beyond it; both end at the target.
                    "who reaches the target wins at once",
                    game,
                    (player, (5, 5), 2),
                    ("roll", "roll"),
                    (
                        (QUARTER, (1 - player, (5, 5), 0), 0),
                        (QUARTER, (player, (5, 5), 4), 0),
                        (HALF, (player, ((10, 5), (5, 10))[player], 0), (1, loss)[player]),
                    ),
                )
                for game, loss in ((FOUR_SIDES, 0), (SIGNED, -1))
            ),
        )
    ),
    *(
        (
            "the sum of the dice is added to the score",
            Greed(20, 4),
            (player, (2, 5)[:: 1 - 2 * player], "play"),
            (("roll 3", 0), (0, "roll 3"))[player],
            tuple(
                (
                    Fraction(sum(sum(dice) == n for dice in product(range(1, 5), repeat=3)), 64),
                    (1 - player, (2 + n, 5)[:: 1 - 2 * player], "play"),
                    0,
                )
                for n in range(3, 13)
            ),
        )
        for player in (0, 1)
    ),
    *(
        (
            "a score above the limit is a bust and loses",
            Greed(20, 6),
            (player, (17, 3)[:: 1 - 2 * player], phase),
            (("roll 2", 0), (0, "roll 2"))[player],
            (
                (Fraction(1, 36), after(19), 0 if phase == "play" else 1 - player),
                (Fraction(2, 36), after(20), 0 if phase == "play" else 1 - player),
                (Fraction(33, 36), (0, (21, 3)[:: 1 - 2 * player], "over"), player),
            ),
        )
        for player, phase in product((0, 1), ("play", "last"))
        for after in [partial(rolled, player, phase)]
    ),
    *(
        (
            "the higher score wins and equal scores are a tie",
            Greed(20, 3),
            (player, (5, 7)[:: 1 - 2 * player], "last"),
            (("roll 1", 0), (0, "roll 1"))[player],
            tuple(
                (THIRD, (0, (score, 7)[:: 1 - 2 * player], "over"), (player, HALF, 1 - player)[k])
                for k, score in enumerate((6, 7, 8))
            ),
        )
        for player in (0, 1)
    ),
    *(
        ("who falls to 0 STAMINA has lost", FightingFantasy(), state, (action,), ((1, over, won),))
        for state, action, over, won in (
            ((0, 1, 2, 3, "won"), "keep", (0, 1, 0, 3, "over"), 1),
            ((0, 1, 1, 3, "won"), "test luck", (0, 1, 0, 2, "over"), 1),
            ((0, 2, 5, 3, "lost"), "keep", (0, 0, 5, 3, "over"), 0),
            ((0, 1, 5, 3, "lost"), "test luck", (0, 0, 5, 2, "over"), 0),
        )
    ),
    # What a decision costs the hero, the opponent and in LUCK; either round follows as often. Two
    # dice show at most 7 in 21 of 36 ways.
    *(
        (
            rule,
            FightingFantasy(luck_cost=luck),
            (0, 20, 20, 7, before),
            (action,),
            tuple(
                (p * HALF, (0, 20 - hero, 20 - opponent, 7 - tested, after), 0)
                for p, hero, opponent, tested in costs
                for after in ("won", "lost")
            ),
        )
        for luck in (0, 1)
        for rule, before, action, costs in (
            ("a round won costs the opponent 2", "won", "keep", [(1, 0, 2, 0)]),
            ("a round lost costs the hero 2", "lost", "keep", [(1, 2, 0, 0)]),
            (
                "a test makes a won round cost 4 or 1",
                "won",
                "test luck",
                [(Fraction(21, 36), 0, 4, luck), (Fraction(15, 36), 0, 1, luck)],
            ),
            (
                "a test makes a lost round cost 1 or 3",
                "lost",
                "test luck",
                [(Fraction(21, 36), 1, 0, luck), (Fraction(15, 36), 3, 0, luck)],
            ),
        )
    ),
    *(
        (
            "a victory counts with enough left, and what is left adds to its score",
            FightingFantasy(**parameters),
            (0, hero, 1, luck, "won"),
            ("keep",),
            ((1, (0, hero, 0, luck, "over"), reward),),
        )
        for parameters, hero, luck, reward in VICTORIES
    ),
    *(
        (
            "a defeat counts nothing",
            FightingFantasy(**parameters),
            (0, 2, 1, luck, "lost"),
            ("keep",),
            ((1, (0, 0, 1, luck, "over"), 0),),
        )
        for parameters, _, luck, _ in VICTORIES
    ),
    (
        "a round goes by the given probabilities",
        FightingFantasy(0, 9, 9, 0, round_probabilities=["1/2", "1/3", "1/6"]),
        (0, 9, 9, 0, "won"),
        ("keep",),
        ((1 - QUARTER, (0, 9, 7, 0, "won"), 0), (QUARTER, (0, 9, 7, 0, "lost"), 0)),
    ),
    # The clock stops one move of 20, but not the last.
    *(
        (
            "a right door leads on and a wrong one back",
            CORRIDOR,
            (room,),
            (door,),
            ((1, (5,), 1),)
            if after == 5
            else ((Fraction(19, 20), (after,), 0), (Fraction(1, 20), (-1,), 0)),
        )
        for room, right in enumerate(CORRIDOR.right_doors)
        for door in range(3)
        for after in [room + 1 if door == right else max(room - 1, 0)]
    ),
    (
        "standing opens the last turn",
        Greed(20, 3),
        (0, (5, 7), "play"),
        ("stand", 0),
        ((1, (1, (5, 7), "last"), 0),),
    ),
    (
        "another card may be too much",
        Blackjack(),
        (20, 6, False),
        (HIT,),
        ((CARD, (21, 6, False, False), 0), (12 * CARD, OVER, -1)),
    ),
    (
        "a usable ace then counts 1",
        Blackjack(),
        (20, 6, True),
        (HIT,),
        (
            (CARD, (21, 6, True, False), 0),
            *((CARD, (total, 6, False, False), 0) for total in range(12, 20)),
            (4 * CARD, (20, 6, False, False), 0),
        ),
    ),
    (
        "a natural wins unless the dealer has one",
        Blackjack(),
        (21, 10, True, True),
        (STICK,),
        ((12 * CARD, OVER, 1), (CARD, OVER, 0)),
    ),
    (
        "which takes an ace or a ten",
        Blackjack(),
        (21, 5, True, True),
        (STICK,),
        ((1, OVER, 1),),
    ),
    (
        "a move takes any number from one heap",
        Nim([1, 3]),
        ((1, 3), 0),
        ("take 2 from heap 2", 0),
        ((1, ((1, 1), 1), 0),),
    ),
    (
        "and passes the turn",
        Nim([1, 3]),
        ((1, 3), 1),
        (0, "take 1 from heap 1"),
        ((1, ((0, 3), 0), 0),),
    ),
    (
        "marks are set in turns",
        TicTacToe(),
        ((1, 0, 0, 0, 0, 0, 0, 0, 0),),
        (0, "centre"),
        ((1, ((1, 0, 0, 0, 2, 0, 0, 0, 0),), 0),),
    ),
    *(
        ("three in a row win", TicTacToe(), ((1, 1, 0, 2, 2, 0, 0, 0, last),), moves, after)
        for last, moves, after in (
            (0, ("top right", 0), ((1, ((1, 1, 1, 2, 2, 0, 0, 0, 0),), 1),)),
            (1, (0, "right"), ((1, ((1, 1, 0, 2, 2, 2, 0, 0, 1),), -1),)),
        )
    ),
    *(
        (
            "the higher card takes the prize and both cards are gone",
            Goofspiel(3),
            (2, (1, 3), EVERY, EVERY),
            (f"bid {first}", f"bid {second}"),
            tuple(
                (
                    HALF,
                    (
                        prize,
                        (4 - prize,),
                        *(tuple(c for c in EVERY if c != bid) for bid in (first, second)),
                    ),
                    reward,
                )
                for prize in (1, 3)
            ),
        )
        for first, second, reward in ((3, 1, 2), (1, 3, -2), (3, 3, 0))
    ),
    *(
        ("who beats whom and what it counts", RATED, (-1, -1), throws, ((1, after, reward),))
        for throws, after, reward in (
            (("rock", "scissors"), (0, 2), 5),
            (("scissors", "rock"), (2, 0), -5),
            (("paper", "rock"), (1, 0), 7),
            (("rock", "paper"), (0, 1), -7),
            (("scissors", "paper"), (2, 1), 9),
            (("paper", "scissors"), (1, 2), -9),
            (("rock", "rock"), (0, 0), 0),
        )
    ),
    *(
        ("fields taken less fields lost", FIVES, ((), ()), (own, other), ((1, after, reward),))
        for own, other, reward in (
            ("2-2-1", "5-0-0", 1),
            ("5-0-0", "2-2-1", -1),
            ("2-2-1", "2-1-2", 0),
            ("0-0-5", "0-1-4", 0),
            ("2-1-2", "3-0-2", 0),
        )
        for after in [tuple(tuple(map(int, d.split("-"))) for d in (own, other))]
    ),
    *(
        # Both tie on empty posts and on equal ones; the matrix is that of the textbooks.
        (
            "with spoils the soldiers beaten count",
            POSTS,
            ((), ()),
            (own, other),
            ((1, after, paid),),
        )
        for own, payoffs in (
            ("4-0", (4, 0, 2, 1)),
            ("0-4", (0, 4, 1, 2)),
            ("3-1", (1, -1, 3, 0)),
            ("1-3", (-1, 1, 0, 3)),
            ("2-2", (-2, -2, 2, 2)),
        )
        for other, paid in zip(("3-0", "0-3", "2-1", "1-2"), payoffs, strict=True)
        for after in [tuple(tuple(map(int, d.split("-"))) for d in (own, other))]
    ),
    (
        # Both want the square between them: who is first has it, and the other walks into it.
        "the order of the moves is random",
        Soccer(),
        pitch((1, 3), (1, 1), 1),
        ("forward", "forward"),
        (
            (9 * DRAW / 2, pitch((1, 2), (1, 1), 0), 0),
            (9 * DRAW / 2, pitch((1, 3), (1, 2), 1), 0),
            (DRAW, scored(DRAWN), 0),
        ),
    ),
    (
        "a goal ends the game",
        Soccer(),
        pitch((1, 0), (3, 4), 0),
        ("forward", "stand"),
        ((1, scored(0), 1),),
    ),
    (
        "a step without a goal may end the game",
        Soccer(),
        pitch((1, 0), (3, 4), 0),
        ("stand", "stand"),
        ((9 * DRAW, pitch((1, 0), (3, 4), 0), 0), (DRAW, scored(DRAWN), 0)),
    ),
    (
        # The other loses the ball by walking back into the player at the goal.
        "who walks into the other leaves the ball there",
        Soccer(),
        pitch((1, 0), (1, 1), 1),
        ("stand", "back"),
        ((9 * DRAW, pitch((1, 0), (1, 1), 0), 0), (DRAW, scored(DRAWN), 0)),
    ),
    (
        "who gets the ball first may score with it",
        Soccer(),
        pitch((1, 0), (1, 1), 1),
        ("forward", "back"),
        (
            (9 * DRAW / 2, pitch((1, 0), (1, 1), 0), 0),
            (HALF, scored(0), 1),
            (DRAW / 2, scored(DRAWN), 0),
        ),
    ),
]


def at(game: Any, values: Iterable[Any]) -> Any:
    return type(game.initial()[0].state)(*values)


def test_a_move_has_the_outcomes_that_its_rule_says() -> None:
    for rule, game, state, moves, expected in MOVES:
        joint = tuple(
            names.index(move) if isinstance(move, str) else move
            for names, move in zip(game.info.actions, moves, strict=True)
        )
        assert game.transition(at(game, state), joint) == expected, (rule, game, state, moves)


BOARD, MAZE = (list(product(range(rows), range(columns))) for rows, columns in ((7, 10), (6, 9)))

# A game, and the states in one of which it begins, each with equal probability.
STARTS: list[tuple[Any, list[tuple[Any, ...]]]] = [
    (WindyGridworld(), [(3, 0)]),
    (DynaMaze(), [(2, 0)]),
    (Gridworld(), list(product(range(5), repeat=2))),
    (RandomWalk(1), [(1,)]),
    (RandomWalk(5), [(3,)]),
    (RandomWalk(19), [(10,)]),
    (Gambler(goal=10), [(5,)]),
    (Gambler(goal=7), [(3,)]),
    (Gambler(capital=99), [(99,)]),
    (Racetrack("bend"), [(6, column, 0, 0) for column in range(4)]),
    (FOUR_SIDES, [(0, (0, 0), 0)]),
    (
        Goofspiel(3),
        [(1, (2, 3), EVERY, EVERY), (2, (1, 3), EVERY, EVERY), (3, (1, 2), EVERY, EVERY)],
    ),
    (Goofspiel(3, "ascending"), [(1, (2, 3), EVERY, EVERY)]),
    (Goofspiel(3, "descending"), [(3, (1, 2), EVERY, EVERY)]),
    (TicTacToe(), [((0,) * 9,)]),
    (Soccer(), [pitch((1, 3), (2, 1), ball) for ball in (0, 1)]),
]


def test_a_game_begins_where_it_should() -> None:
    for game, states in STARTS:
        expected = tuple((Fraction(1, len(states)), state, 0) for state in states)
        assert game.initial() == expected, game


# A game, some states, and those of them in which it has ended.
ENDS: list[tuple[Any, list[tuple[Any, ...]], list[tuple[Any, ...]]]] = [
    (WindyGridworld(), BOARD, [(3, 7)]),
    (DynaMaze(), MAZE, [(0, 8)]),
    (Gridworld(), list(product(range(5), repeat=2)), []),
    (RandomWalk(), [(n,) for n in range(7)], [(0,), (6,)]),
    (CORRIDOR, [(-1,), (0,), (4,), (5,)], [(-1,), (5,)]),
    (Racetrack("bend"), [FINISHED, (6, 0, 0, 0)], [FINISHED]),
    (WEAR, [(0, 1), (1, 1)], [(0, 1)]),
    (FOUR_SIDES, [(0, (10, 5), 0), (1, (5, 5), 4)], [(0, (10, 5), 0)]),
    (FightingFantasy(), [(0, 1, 0, 3, "over"), (0, 1, 2, 3, "won")], [(0, 1, 0, 3, "over")]),
    (RATED, [(-1, -1), (0, 0)], [(0, 0)]),
    (Goofspiel(3, "ascending"), [(0, (), (), ()), (3, (), (1,), (2,))], [(0, (), (), ())]),
]


def test_a_game_ends_where_it_should() -> None:
    for game, states, ended in ENDS:
        assert [state for state in states if game.is_terminal(at(game, state))] == ended, game


def steers(*changes: tuple[int, int]) -> tuple[int, ...]:
    return tuple(sorted(map(ACTIONS.index, changes)))


BEND = Racetrack("bend")
LEGAL: list[tuple[str, Any, tuple[Any, ...], tuple[tuple[int, ...], ...]]] = [
    *(
        ("a stake is at most what there is or is missing", Gambler(goal=10), (n,), (range(most),))
        for n, most in ((1, 1), (4, 4), (5, 5), (6, 4), (9, 1))
    ),
    ("a velocity is 0 at least", BEND, (6, 0, 0, 0), (steers((0, 0), (0, 1), (1, 0), (1, 1)),)),
    ("any change", BEND, (3, 1, 2, 2), (range(9),)),
    ("4 at most", BEND, (3, 1, 4, 2), (steers(*((u, r) for u, r in ACTIONS if u < 1)),)),
    ("4 at most", BEND, (3, 1, 1, 4), (steers(*((u, r) for u, r in ACTIONS if r < 1)),)),
    (
        "not 0 but on the line",
        BEND,
        (3, 1, 1, 0),
        (steers((0, 0), (0, 1), (1, 0), (1, 1), (-1, 1)),),
    ),
    ("on the line", BEND, (6, 1, 0, 1), (steers(*((u, r) for u, r in ACTIONS if u > -1)),)),
    ("only cars that are there are moved", CarRental(), (0, 0), ((5,),)),
    ("only cars that are there are moved", CarRental(), (2, 0), ((5, 6, 7),)),
    ("only cars that are there are moved", CarRental(), (0, 1), ((4, 5),)),
    ("five at most", CarRental(), (20, 20), (range(11),)),
    *(
        ("the first roll of a turn is compulsory", FOUR_SIDES, (0, (3, 5), total), (own, (0,)))
        # A turn has 2 points after its first roll, but the rule is about its total.
        for total, own in ((0, (0,)), (1, (0, 1)), (2, (0, 1)))
    ),
    ("the other player waits", FOUR_SIDES, (1, (3, 5), 2), ((0,), (0, 1))),
    ("so many dice as can be of use", Greed(), (0, (0, 93), "play"), (range(30), (0,))),
    ("so many dice as can be of use", Greed(), (1, (0, 93), "play"), ((0,), range(3))),
    ("so many dice as can be of use", Greed(), (1, (0, 100), "last"), ((0,), (0,))),
    ("LUCK can be tested while any is left", FightingFantasy(), (0, 12, 12, 1, "lost"), ((0, 1),)),
    ("LUCK can be tested while any is left", FightingFantasy(), (0, 12, 12, 0, "lost"), ((0,),)),
    ("with a natural there is no choice", Blackjack(), (21, 10, True, True), ((STICK,),)),
    ("a 21 may be hit", Blackjack(), (21, 10, True, False), ((STICK, HIT),)),
    ("empty squares are free", TicTacToe(), ((1, 2, *[0] * 7),), (range(2, 9), (0,))),
    ("the other player waits", TicTacToe(), ((1, *[0] * 8),), ((0,), range(1, 9))),
    ("only cards in hand are bid", Goofspiel(3), (2, (3,), (1, 3), (2, 3)), ((0, 2), (1, 2))),
    *(
        ("the moves are those of the parameter", WindyGridworld(moves), (3, 0), (range(count),))
        for moves, count in (("four", 4), ("king", 8), ("nine", 9))
    ),
]


def test_legal_actions_are_those_that_the_rules_allow() -> None:
    for rule, game, state, expected in LEGAL:
        assert game.legal_actions(at(game, state)) == tuple(map(tuple, expected)), (rule, state)


def test_a_parameter_that_is_nothing_it_could_be_is_named() -> None:
    kinds = [kind for kind in vars(games).values() if isinstance(kind, type) and is_dataclass(kind)]
    rows = ((kind, one.name, rf"\b{one.name}\b") for kind in kinds for one in fields(kind))
    assert_refused(rows, lambda kind, name: kind(**{name: object()}))
