"""Trained networks as players: plain arrays, without the library that trained them.

A policy network or a network of action values is a few layers of weights. Here they are kept as
arrays, saved without pickles, and evaluated with NumPy, so that a network can take a seat in any
environment and be scored without torch.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvent.envs.batch_simulator import Simulation
from solvent.exact import ArraySchema, Schema, StoreError, read_archive, write_archive
from solvent.model import project
from solvent.model.arrays import Floats, Ints
from solvent.model.parameters import check_choice, shown

Array = NDArray[np.float32]

# The schema of a network's file.
_SCHEMA = Schema(
    "network",
    {
        "activation": str,
        "rule": str,
        "masked": bool,
        "observation": str,
        "name": str,
        "layers": int,
        "metadata": dict,
    },
    {"weight *": ArraySchema("float32", 2), "bias *": ArraySchema("float32", 1)},
)


def times(values: Array, weight: Array) -> Array:
    """Return values [k, inputs] times a weight [inputs, outputs].

    The product is computed a few rows at a time. So few stay in the processor's cache, and the
    matrix library does not start threads for them, which would compete with those of the caller.
    """
    inputs, outputs = weight.shape
    rows = max(1, _MULTIPLICATIONS // (inputs * outputs))
    whole = len(values) // rows * rows
    product = np.empty((len(values), outputs), np.result_type(values, weight))
    pieces = values[:whole].reshape(-1, rows, inputs)
    np.matmul(pieces, weight, out=product[:whole].reshape(-1, rows, outputs))
    np.matmul(values[whole:], weight, out=product[whole:])
    return product


# Multiplications per product; above this, NumPy's OpenBLAS starts threads.
_MULTIPLICATIONS = 2**18

# Activations between the layers, by name; they overwrite their argument.
_ACTIVATIONS: Mapping[str, Callable[[Array], Array]] = {
    "relu": lambda values: np.maximum(values, 0, out=values),
    "tanh": lambda values: np.tanh(values, out=values),
}

RULES = ("sampled", "mode")
"""Rules for choosing actions from a network's outputs: in proportion to the exponentials, as a
policy network is sampled, or always the largest, which is the mode of a policy network and the
greedy action of a network of action values."""


@dataclass(frozen=True, eq=False)
class Network:
    """A network of affine layers, with an activation between two of them.

    Attributes:
        weights: [inputs, outputs] float32 weights of each layer.
        biases: [outputs] float32 biases of each layer.
        activation: ``"relu"`` or ``"tanh"``.
    """

    weights: tuple[Array, ...]
    biases: tuple[Array, ...]
    activation: str

    def __post_init__(self) -> None:
        """Check the activation and that the layers fit."""
        check_choice(self.activation, "activation", _ACTIVATIONS)
        if not self.weights:
            raise ValueError("a network has at least one layer")
        inputs, outputs = zip(*(weight.shape for weight in self.weights), strict=True)
        biases = [bias.shape for bias in self.biases]
        if outputs[:-1] != inputs[1:] or biases != [(width,) for width in outputs]:
            raise ValueError(
                f"layers of {inputs} inputs, {outputs} outputs and {biases} biases do not fit"
            )

    def __call__(self, seen: Array) -> Array:
        """Return the outputs [k, outputs] for observations [k, inputs]."""
        activate = _ACTIVATIONS[self.activation]
        values: Array = seen @ self.weights[0] + self.biases[0]
        for weight, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            values = times(activate(values), weight)
            values += bias
        return values


@dataclass(frozen=True, eq=False)
class NetworkPlayer:
    """A player that chooses actions by a network.

    Attributes:
        network: The network, with one output for each action.
        rule: Rule for choosing actions, one of :data:`RULES`.
        masked: Whether it chooses among legal actions only. Otherwise the lowest legal action is
            played instead of an illegal one, as the environments do.
        observation: Observation type of the network.
        name: Name of the player.
    """

    network: Network
    rule: str
    masked: bool
    observation: str
    name: str = "network"

    def __post_init__(self) -> None:
        """Check the rule."""
        check_choice(self.rule, "rule", RULES)

    def action_probabilities(self, simulation: Simulation, chosen: Ints, player: Ints) -> Floats:
        """Return the action probabilities [k, A] of the chosen episodes."""
        seen = simulation.observe(chosen, player, self.observation)
        if seen.shape[1] != len(self.network.weights[0]):
            raise ValueError(
                f"{self.name} takes {len(self.network.weights[0])} numbers, but sees "
                f"{seen.shape[1]}; it was trained for another game"
            )
        return self.choose(self.network(seen), simulation.legal(chosen, player) == 1)

    def choose(self, outputs: Array, legal: NDArray[np.bool_]) -> Floats:
        """Return action probabilities [k, A] from the network's outputs and the legal actions."""
        if self.masked:
            outputs = np.where(legal, outputs, -np.inf)
        if self.rule == "mode":
            chances: Floats = np.zeros(outputs.shape)
            chances[np.arange(len(outputs)), outputs.argmax(axis=1)] = 1.0
        else:
            # NumPy reduces many short rows slowly: take maxima of columns, and sums as products.
            outputs = outputs - np.ascontiguousarray(outputs.T).max(axis=0)[:, None]
            # Exponentials in float32 are enough; the sums should be 1 in float64.
            chances = np.exp(outputs, out=outputs).astype(np.float64)
            chances /= (chances @ np.ones(chances.shape[1]))[:, None]
        return chances if self.masked else project(chances, legal)


def save_network(
    path: str | Path, player: NetworkPlayer, metadata: dict[str, Any] | None = None
) -> None:
    """Save a player.

    Args:
        path: Output file; by custom ending in ``.npz``.
        player: The player to save.
        metadata: JSON-able facts to keep with it, such as how it was trained.

    Raises:
        StoreError: If the file cannot be written.
    """
    network = player.network
    header = {
        "kind": _SCHEMA.kind,
        "activation": network.activation,
        "rule": player.rule,
        "masked": player.masked,
        "observation": player.observation,
        "name": player.name,
        "layers": len(network.weights),
        "metadata": metadata or {},
    }
    arrays = {f"weight {k}": weight for k, weight in enumerate(network.weights)}
    arrays |= {f"bias {k}": bias for k, bias in enumerate(network.biases)}
    write_archive(path, header, arrays)


def load_network(path: str | Path) -> NetworkPlayer:
    """Load a player that :func:`save_network` saved; opening such a file runs no code.

    Raises:
        StoreError: If the file is missing, damaged or of another kind.
    """
    header, arrays = read_archive(path, _SCHEMA)
    try:
        if 2 * header["layers"] != len(arrays):
            raise ValueError(f"layers is {shown(header['layers'])}; there are {len(arrays)} arrays")
        for name, array in arrays.items():
            if not np.isfinite(array).all():
                raise ValueError(f"{name} has an entry that is not a finite number")
        layers = range(header["layers"])
        network = Network(
            tuple(arrays[f"weight {k}"] for k in layers),
            tuple(arrays[f"bias {k}"] for k in layers),
            header["activation"],
        )
        return NetworkPlayer(
            network, header["rule"], header["masked"], header["observation"], header["name"]
        )
    except (KeyError, ValueError) as error:
        raise StoreError(f"{path}: not a network of solvent's, or damaged ({error})") from error
