"""Functions of observations as policies: a table of what they give in every state.

Whatever library a policy was learned with, it is a function: of a batch of observations, with a
row of probabilities, logits or action values for each, or an action. A finite game has finitely
many observations, so that its values are a table, and every number about it is exact.

**What is not such a function.** A policy that depends on what it saw before (a recurrent network,
stacked frames) or on something hidden has no table. Nor has one that draws its actions: its
probabilities are the policy, and one draw of them is another. The first batch is therefore asked
twice, and a function that does not repeat itself is refused.

**Illegal actions.** A function may choose an action that is illegal in a state. What becomes of it
is part of the policy, and there are two customs: the environment plays the lowest legal action
instead (``"remap"``, by :func:`solvent.model.project`), or the algorithm is told what is legal and
chooses among that (``"mask"``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from solvent.model import TabularGame, TabularPolicy, project
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.parameters import check_choice, check_integer, shown

OUTPUTS = ("probabilities", "logits", "action_values", "actions")
"""What a function may give for each observation."""

ILLEGAL = ("remap", "mask", "raise")
"""What may become of illegal actions."""

TOLERANCE = 1e-3
"""How far a row of probabilities may be from the sum 1; float32, and half precision, come near."""

Array = NDArray[Any]
Function = Callable[..., Any]


def tabulated(
    game: TabularGame,
    function: Function,
    observations: Array,
    *,
    outputs: str | None = None,
    illegal: str = "remap",
    takes_mask: bool = False,
    deterministic: bool = False,
    player: int = 0,
    batch_size: int = 8192,
    name: str = "policy",
) -> tuple[TabularPolicy, Floats]:
    """Ask a function in every state in which a player is to act.

    Args:
        game: The game.
        function: Of n observations; a ``torch.nn.Module`` is given tensors.
        observations: [S, ...] what the player sees in each state.
        outputs: What the function gives: ``"probabilities"``, ``"logits"`` or
            ``"action_values"``, [n, A], or ``"actions"``, [n]. If left out, [n] whole numbers are
            actions, and rows are probabilities, which is checked.
        illegal: ``"remap"``, ``"mask"`` as in the module, or ``"raise"``: a ValueError.
        takes_mask: Whether the function is also given the legal actions, [n, A] bool.
        deterministic: Whether the most probable action of each row is always played, the lowest
            on ties. That of the largest action value is, in any case.
        player: Whose policy it is, 0 or 1.
        batch_size: How many states are asked about at once.
        name: Of the policy.

    Returns:
        The policy, and the probability that was moved from illegal actions in each state, [S].

    Raises:
        ValueError: If an argument is none of these, the function gives something else, is no
            function of what it is given, or chooses an illegal action that is not allowed.
    """
    if outputs is not None:
        check_choice(outputs, "outputs", OUTPUTS)
    check_choice(illegal, "illegal", ILLEGAL)
    check_integer(player, "player", 0, 1)
    check_integer(batch_size, "batch_size", 1, 2**31 - 1)
    mask = game.mask[player]
    acting = np.flatnonzero(game.on_turn(player))
    # Where it is the other's turn the player has one action, and is not asked.
    probabilities = np.where(game.on_turn(player)[:, None], 0.0, mask)
    moved = np.zeros(game.n_states)
    with _evaluated(function) as asked:
        for first in range(0, len(acting), batch_size):
            states = acting[first : first + batch_size]
            where = _Where(game, states, name)
            arguments = [observations[states], *([mask[states]] if takes_mask else [])]
            given = where.array(_called(asked, arguments))
            if first == 0:
                where.check_repeated(given, where.array(_called(asked, arguments)))
            chosen = where.weights(given, outputs, mask[states], illegal, greedy=deterministic)
            off = np.where(mask[states], 0.0, chosen)
            if illegal == "raise":
                where.check_legal(off)
            moved[states] = off.sum(axis=1)
            probabilities[states] = project(chosen, mask[states])
    return TabularPolicy.of(game, probabilities, player=player, name=name), moved


class _Where:
    """Some states in which a function is asked, and checks of what it gives there."""

    def __init__(self, game: TabularGame, states: Ints, name: str) -> None:
        self.game, self.states, self.name = game, states, name

    def state(self, row: int) -> str:
        """The state of a row, for messages."""
        return shown(self.game.states[int(self.states[row])])

    def array(self, given: Any) -> Array:
        """What a function gave, as an array of NumPy."""
        if isinstance(given, (tuple, dict)):
            what = f"{len(given)} things" if isinstance(given, tuple) else "a dictionary"
            raise ValueError(
                f"{self.name} gave {what}; one array is expected, [n, A] or [n]: hand on that one"
            )
        if hasattr(given, "detach"):
            given = given.detach().cpu()
        array = np.asarray(given)
        if array.dtype.kind not in "iuf":
            raise ValueError(
                f"{self.name} gave {shown(given)} of type {array.dtype}; expected are numbers"
            )
        return array

    def check_repeated(self, given: Array, again: Array) -> None:
        """Refuse a function that draws what it gives."""
        if given.shape == again.shape:
            # Sums on some devices are not in the same order each time.
            same = np.isclose(given, again, rtol=1e-3, atol=1e-5, equal_nan=True)
            if given.dtype.kind in "iu":
                same = given == again
            if same.all():
                return
            row = int(np.flatnonzero(~same.reshape(len(same), -1).all(axis=1))[0])
            found = f"{shown(given[row].tolist())} and then {shown(again[row].tolist())}"
        else:
            row, found = 0, f"arrays of shape {given.shape} and then {again.shape}"
        raise ValueError(
            f"{self.name} gave {found} for the same observation, of state {self.state(row)}; "
            f"hand on probabilities or logits instead of actions that are drawn, and switch off "
            f"dropout and noise (a policy of the history has no table)"
        )

    def weights(
        self, given: Array, outputs: str | None, legal: Bools, illegal: str, *, greedy: bool
    ) -> Floats:
        """The probabilities that are meant, [n, A]; over legal actions if they are masked."""
        n, width = legal.shape
        if outputs is None:
            outputs = "actions" if given.ndim == 1 and given.dtype.kind in "iu" else "probabilities"
        if outputs == "actions":
            return self._actions(given, legal, masked=illegal == "mask")
        if given.shape != (n, width):
            raise ValueError(
                f"{self.name} gave an array of shape {given.shape} for {n} observations; expected "
                f"are {outputs} of shape ({n}, {width}), a column for each action of "
                f"{self.game.info.name}, or {n} whole numbers, which are actions"
            )
        values = given.astype(np.float64)
        if outputs == "probabilities":
            self._check_probabilities(values)
            if illegal == "mask":
                values = np.where(legal, values, 0.0)
                self._refuse(
                    ~(values.sum(axis=1) > 0),
                    "gives no probability to a legal action",
                    "illegal='remap' plays the lowest legal action there, as the environments do",
                )
            greatest = values
            values = values / values.sum(axis=1, keepdims=True)
        else:
            if illegal == "mask":
                values = np.where(legal, values, -np.inf)
            self._refuse(
                np.isnan(values).any(axis=1) | ~np.isfinite(values.max(axis=1)),
                f"gives {outputs} without a finite largest one",
                "allowed are numbers, and minus infinity for what is never chosen",
                given,
            )
            greatest = values
            if outputs == "logits":
                values = np.asarray(softmax(values, axis=1))
        if greedy or outputs == "action_values":
            return np.asarray(np.eye(width)[greatest.argmax(axis=1)])
        return values

    def _actions(self, given: Array, legal: Bools, *, masked: bool) -> Floats:
        n, width = legal.shape
        if given.shape != (n,) or given.dtype.kind not in "iu":
            raise ValueError(
                f"{self.name} gave an array of shape {given.shape} and type {given.dtype} for {n} "
                f"observations; actions are whole numbers of shape ({n},)"
            )
        self._refuse((given < 0) | (given >= width), "takes an action", f"there are {width}", given)
        chosen: Floats = np.eye(width)[given]
        if masked:
            self._refuse(
                ~legal[np.arange(n), given],
                "takes an illegal action",
                "an action cannot be masked afterwards: hand on probabilities, logits or action "
                "values, or let the function take the mask (takes_mask=True)",
                given,
            )
        return chosen

    def _check_probabilities(self, values: Floats) -> None:
        total = values.sum(axis=1)
        hint = "say outputs='logits' or outputs='action_values' if that is what they are"
        self._refuse(
            ~(values >= 0).all(axis=1),
            "gives probabilities that are negative or not numbers",
            hint,
            values,
        )
        far = ~(np.abs(total - 1) <= TOLERANCE)
        if far.any():
            row = int(far.argmax())
            self._refuse(
                far,
                f"gives probabilities that sum to {total[row]:.6g}, not to 1 within {TOLERANCE:g}",
                f"divide each row by its sum, or {hint}",
                values,
            )

    def check_legal(self, off: Floats) -> None:
        """Refuse what is chosen of illegal actions, [n, A]."""
        self._refuse(
            (off > 0).any(axis=1),
            "gives probability to an illegal action",
            "illegal='remap' plays the lowest legal one instead, as the environments do, and "
            "illegal='mask' chooses among legal ones only",
            off,
        )

    def _refuse(self, wrong: Any, problem: str, fix: str, given: Array | None = None) -> None:
        if wrong.any():
            row = int(wrong.argmax())
            what = "" if given is None else f": {shown(given[row].tolist())}"
            raise ValueError(f"{self.name} {problem} in state {self.state(row)}{what}; {fix}")


def _called(function: Function, arguments: list[Array]) -> Any:
    """What a function gives; if it fails, with a note of what it was given."""
    try:
        return function(*arguments)
    except Exception as error:
        seen = arguments[0]
        error.add_note(
            f"(It was given {len(seen)} observations of shape {seen.shape[1:]} and type "
            f"{seen.dtype}; another kind is had by observation='vector', 'onehot' or 'index'.)"
        )
        raise


@contextmanager
def _evaluated(function: Function) -> Iterator[Function]:
    """A function as it is asked: a module of PyTorch with tensors, as it is after training."""
    # Whoever has such a module has imported it, and nobody else is to wait for that.
    torch: Any = sys.modules.get("torch")
    if torch is None or not isinstance(function, torch.nn.Module):
        yield function
        return
    module: Any = function
    device = next((p.device for p in module.parameters()), None)

    def asked(*arrays: Array) -> Any:
        with torch.no_grad():
            return module(*(torch.as_tensor(array, device=device) for array in arrays))

    # Some parts of it may have been in either mode.
    training = [part for part in module.modules() if part.training]
    module.eval()
    try:
        yield asked
    finally:
        for part in training:
            part.training = True
