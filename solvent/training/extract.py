"""Conversion of networks into policies that need no torch: tables, or networks as plain arrays.

A policy network is a function of the observation, and a finite game has finitely many observations.
Evaluating the network on all of them gives a table of action probabilities, and from then on every
number about the network is exact. In a two-player game this is done for each player, with the
player's own observations, in the states where it moves.

Illegal actions are handled as in training. An algorithm that uses action masks (MaskablePPO,
:class:`~solvent.training.learners.MaskedDQN`) chooses among the legal actions. Any other may choose
an illegal action, which the environment replaces by the lowest legal one. Its table is projected in
the same way, and the probability of illegal actions is reported.

A network passes the gate (:mod:`solvent.baselines.gate`) like any function, and its outputs are
compared with the model's own ``predict`` in every state.

**Inputs.** The network is evaluated on each row of the game's observations. The table is right only
if the network was trained on these rows, in this game, which :func:`inputs` checks. Under
``VecNormalize`` the rows are normalized with its present statistics. If a network was loaded
without an environment, only its last observations are known, which must be rows of the game.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from gymnasium.spaces import Discrete
from numpy.typing import NDArray
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from sb3_contrib.common.recurrent.policies import RecurrentActorCriticPolicy
from sb3_contrib.qrdqn.policies import QRDQNPolicy
from stable_baselines3 import DQN
from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.policies import ActorCriticPolicy
from stable_baselines3.common.vec_env import VecNormalize
from stable_baselines3.dqn.policies import DQNPolicy
from torch import nn

from solvent.baselines.gate import QueriedFunction, check_wrappers, layers
from solvent.baselines.network import Network, NetworkPlayer
from solvent.envs.sampling import kind_that_fits, observation_space, observed
from solvent.model import TabularGame, TabularPolicy, cached_table
from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.gymnasium_table import GymnasiumTable, count_of, numbers_of
from solvent.training.environments import with_roles, without_roles
from solvent.training.learners import MaskedDQN, MaskedReplayBuffer

Array = NDArray[Any]


def inputs(model: BaseAlgorithm, game: TabularGame, observation: str | Array, player: int) -> Array:
    """Return the network's input in each state.

    Args:
        model: The learner.
        game: The game.
        observation: The environment's observation: ``"vector"``, ``"onehot"``, ``"index"``, or
            [S] numbers of the states in a Gymnasium environment, which has no table itself.
        player: The observing player.

    Returns:
        [S, D] float32, or [S] int64 for ``"index"``.

    Raises:
        ValueError: If its environment has another game or none with a table, or another learner, a
            wrapper may change observations or actions, or the last observations of a loaded network
            are not those of the game.
    """
    own = model.get_vec_normalize_env()
    if type(own) is not VecNormalize or not own.norm_obs:
        own = None
    check_wrappers(model.env, own)
    named = isinstance(observation, str)
    name = f"observation={observation!r}" if named else "the state number"
    rows = state_observations(game, player, observation)
    expected, wanted = model.observation_space, observation_space(rows.reshape(len(rows), -1))
    if not named:
        wanted = Discrete(count_of(game))
    if expected.shape != rows.shape[1:] or (rows.ndim == 1 and expected != wanted):
        raise ValueError(
            f"the network takes {expected!s:.60}, but {name} of "
            f"{game.info.name} is {wanted!s:.60}: train on what the game shows"
        )
    if model._last_obs is None and model.num_timesteps > 0:
        raise ValueError(
            "the network has learned, but what it last saw was dropped when it was given another "
            "environment; load it without one"
        )
    if model.env is not None and named:
        _check_game(model, game, player)
    others = [
        state_observations(game, one, observation)
        for one in range(game.info.players)
        if one != player and (rows.ndim == 1 or one < len(game.observation))
    ]
    # Earlier inputs of the learner were normalized with the statistics of that moment.
    last = model._last_obs if own is None else getattr(own, "old_obs", None)
    _check_last(last, [rows, *others], name)
    return rows if own is None else np.asarray(own.normalize_obs(rows))


def state_observations(game: TabularGame, player: int, observation: str | Array) -> Array:
    """Return the observations of a player in each state, [S, ...].

    Args:
        game: The game.
        player: The player.
        observation: Observation type, or the observations themselves.
    """
    if isinstance(observation, str):
        return observed(game, player, observation)
    return np.asarray(observation)


def fitting_observation(
    model: BaseAlgorithm, game: TabularGame, player: int, default: str = "vector"
) -> str | Ints:
    """Return the kind of observation that fits a network's observation space.

    In a table of a Gymnasium environment, a network that was loaded without an environment is taken
    to have seen that environment's numbers of states. Their order is not that of the table.

    Args:
        model: The learner.
        game: The game.
        player: The observing player.
        default: The kind to prefer, as for :func:`~solvent.envs.sampling.kind_that_fits`.
    """
    numbers = numbers_of(game) if model.env is None and default != "index" else None
    if numbers is not None and isinstance(model.observation_space, Discrete):
        return numbers
    return kind_that_fits(model.observation_space, game, player, default)


def _check_transitions(model: BaseAlgorithm, game: TabularGame) -> None:
    """Refuse a learner of a toy-text environment with other transitions than the table's."""
    numbers = numbers_of(game)
    for layer in layers(model.env):
        table = getattr(layer, "__dict__", {}).get("P")
        if numbers is None or not isinstance(table, dict):
            continue
        start = np.bincount(numbers, game.initial, minlength=len(table))
        own = cached_table(GymnasiumTable(table, start.tolist(), game.info.name))
        if not _same_rules(own, game):
            raise ValueError(
                f"the network is for another {game.info.name}: its {type(layer).__name__} has "
                f"other transitions; pass that environment"
            )


def _check_game(model: BaseAlgorithm, game: TabularGame, player: int) -> None:
    """Refuse a learner of another seat, or whose environment samples another or an unknown game.

    Starts may differ, and an opponent may be folded into chance on either side.
    """
    tables = [getattr(layer, "__dict__", {}).get("game") for layer in layers(model.env)]
    found = {id(table): table for table in tables if isinstance(table, TabularGame)}
    if not found:
        raise ValueError(
            f"{type([*layers(model.env)][-1]).__name__} does not say which table it samples; train "
            f"on an environment of solvent's, or pass a function: "
            f"lambda seen: model.predict(seen, deterministic=True)[0]"
        )
    seats = {seat for layer in layers(model.env) for seat in getattr(layer, "seats", ())}
    if player not in seats:
        raise ValueError(
            f"player is {player}, but the network learned to be player {min(seats)}; say "
            f"player={min(seats)}"
        )
    for other in found.values():
        if other is game or _same_rules(other, game):
            continue
        game.info.check_same(other.info, "the network")
        if other.n_states != game.n_states or not (_folded(other) or _folded(game)):
            raise ValueError(
                f"the network is for another {game.info.name}: it was trained on the model "
                f"{other.model_hash[:12]}, not {game.model_hash[:12]}"
            )


def _same_rules(one: TabularGame, other: TabularGame) -> bool:
    """Check whether two tables are the same except for their starts."""
    arrays = (
        (g.row_start, g.outcome_start, g.next_state, g.probability, g.outcome_reward, *g.mask)
        for g in (one, other)
    )
    return all(a is b or np.array_equal(a, b) for a, b in zip(*arrays, strict=True))


def _folded(game: TabularGame) -> bool:
    """Check whether a player of a two-player game never has a choice, as after ``against``."""
    return game.info.players == 2 and not all((n > 1).any() for n in game.action_count)


def _check_last(last: Any, known: Sequence[Array], name: str) -> None:
    """Refuse a network whose last observations are foreign."""
    if last is not None:
        # In the network's precision; adding 0 turns a negative zero into an ordinary one.
        seen, *tables = (np.asarray(a, np.float32) + np.float32(0) for a in (last, *known))
        missing = {row.tobytes() for row in seen}
        for table in tables:
            missing -= {row.tobytes() for row in table}
        if missing:
            raise ValueError(
                f"the network last saw observations that are no {name} of the game; if it was "
                f"trained under VecNormalize, pass it as a function: "
                f"lambda seen: model.predict(venv.normalize_obs(seen), deterministic=True)[0]"
            )


SEATS = (0, 1)

OF_ACTION_VALUES = (DQNPolicy, QRDQNPolicy)
"""Networks of action values, of which the largest is chosen; QR-DQN's are means of quantiles."""

# Packages whose models are known to act by the outputs of their networks.
_LIBRARIES = ("sb3_contrib", "solvent", "stable_baselines3")

# Activations allowed between the layers of a network that is kept as plain arrays.
_ACTIVATIONS = {nn.ReLU: "relu", nn.Tanh: "tanh"}


@dataclass(frozen=True, eq=False)
class Extraction:
    """A network's two policies.

    Attributes:
        sampled: The policy with ``deterministic=False``, but without epsilon-exploration. For DQN
            and QR-DQN it is therefore the same as `mode`.
        mode: The policy with ``deterministic=True``.
        illegal: [S] probability of illegal actions when the network is sampled.
        illegal_mode: [S] 1 where the network's greedy action is illegal, else 0.
    """

    sampled: TabularPolicy
    mode: TabularPolicy
    illegal: Floats
    illegal_mode: Floats


def extract(
    model: BaseAlgorithm,
    game: TabularGame,
    *,
    observation: str | NDArray[Any] | None = None,
    player: int = 0,
    batch_size: int = 8192,
    name: str | None = None,
    gate: bool = True,
) -> Extraction:
    """Evaluate a network on every state of a game.

    Args:
        model: A learner of PPO, A2C, TRPO, MaskablePPO, DQN, QR-DQN or MaskedDQN.
        game: The table that its environment samples.
        observation: The network's observation: ``"vector"``, ``"onehot"``, ``"index"``, or [S]
            numbers of the states in a Gymnasium environment. By default, the one that fits its
            observation space, ``"vector"`` before the others, as for :func:`fitting_observation`.
        player: The player whose policy is wanted.
        batch_size: Number of states that are evaluated at once.
        name: Name of the policy. Default: the name of the algorithm's class.
        gate: Check the network at the gate. False if it has passed before, as in a training.

    Raises:
        ValueError: If the network is of another kind, depends on the past, was trained on other
            observations, other actions or another game, or acts differently from its outputs.
    """
    _check_kind(model)
    width, actions = game.mask[player].shape[1], getattr(model.action_space, "n", None)
    if actions != width:
        raise ValueError(f"the network chooses among {actions} actions, the game has {width}")
    if observation is None:
        observation = fitting_observation(model, game, player)
    given = inputs(model, game, observation, player)
    # Evaluation mode; the learner's next step puts it back into training mode.
    model.policy.set_training_mode(False)
    values = isinstance(model.policy, OF_ACTION_VALUES)
    asked = QueriedFunction(
        game,
        partial(action_values if values else _action_probabilities, model),
        given,
        outputs="action_values" if values else "probabilities",
        takes_mask=True,
        predict=partial(_predicted, model),
        player=player,
        batch_size=batch_size,
        # The PPO of `train` is a class of its own, which nobody has to know.
        name=name or type(model).__name__.removeprefix("Distinct"),
    )
    sampled, illegal = asked.policy()
    mode, illegal_mode = asked.policy(greedy=True, name=f"{asked.name} (mode)")
    if gate:
        _check_transitions(model, game)
        asked.pass_gate(sampled, model.env, state_observations(game, player, observation))
        _check_own(model)
    return Extraction(sampled, mode, illegal, illegal_mode)


def extract_seats(
    model: BaseAlgorithm,
    game: TabularGame,
    *,
    observation: str | None = None,
    name: str | None = None,
    gate: bool = True,
) -> tuple[Extraction, Extraction]:
    """Return the policies of a network that learned both seats, in seat 0 and in seat 1.

    Args:
        model: A learner of PPO, A2C, TRPO, MaskablePPO, DQN, QR-DQN or MaskedDQN, trained on
            ``with_roles(game)``, `apart` or not.
        game: A two-player game.
        observation: The network's observation: ``"vector"``, ``"onehot"`` or ``"index"``. By
            default, the one that fits its observation space, ``"vector"`` before the others.
        name: Name of the policies. Default: the name of the algorithm's class.
        gate: Check the network at the gate, as for :func:`extract`.

    Raises:
        ValueError: As for :func:`extract`.
    """
    first, second = game.info.actions
    chooses = getattr(model.action_space, "n", None)
    learned = with_roles(game, apart=chooses == len(first) + len(second))

    def own(player: int) -> Extraction:
        found = extract(
            model, learned, observation=observation, player=player, name=name, gate=gate
        )
        return replace(
            found, sampled=without_roles(found.sampled, game), mode=without_roles(found.mode, game)
        )

    return own(0), own(1)


def network_player(
    model: BaseAlgorithm,
    *,
    observation: str,
    mode: bool = False,
    name: str = "network",
) -> NetworkPlayer:
    """Return a learner's present policy as plain arrays, which need no torch.

    Args:
        model: A learner that :func:`solvent.training.train` made, whose policy is that of its
            layers.
        observation: The learner's kind of observation.
        mode: Return the greedy policy; DQN's always is.
        name: Name of the player.

    Raises:
        ValueError: If its activations are none that such arrays have.
    """
    policy = model.policy
    if isinstance(policy, DQNPolicy):
        modules = list(policy.q_net.q_net)
    elif isinstance(policy, QRDQNPolicy):
        modules = list(policy.quantile_net.quantile_net)
    else:
        assert isinstance(policy, (ActorCriticPolicy, MaskableActorCriticPolicy))
        modules = [*policy.mlp_extractor.policy_net, policy.action_net]
    rule = "mode" if mode or isinstance(policy, OF_ACTION_VALUES) else "sampled"
    network = _network(modules)
    if isinstance(policy, QRDQNPolicy):
        network = _mean_of_quantiles(network, policy.n_quantiles)
    return NetworkPlayer(network, rule, is_masked(model), observation, name)


def is_masked(model: BaseAlgorithm) -> bool:
    """Return whether a learner is told the legal actions."""
    return isinstance(model, MaskedDQN) or isinstance(model.policy, MaskableActorCriticPolicy)


def _check_own(model: BaseAlgorithm) -> None:
    """Refuse a model whose methods that choose actions are not its library's.

    Raises:
        ValueError: If a method was replaced, even if its deterministic policy is the same.
    """
    for method in (model.predict, model.policy.predict, model.policy._predict):
        if getattr(method, "__module__", "").partition(".")[0] not in _LIBRARIES:
            raise ValueError(
                f"{type(model.policy).__name__} has a {method.__name__} of its own, so its actions "
                f"need not follow from its network's outputs; pass it as a function, "
                f"lambda seen: model.predict(seen, deterministic=True)[0]"
            )


def _predicted(model: BaseAlgorithm, seen: NDArray[Any], legal: Bools) -> Ints:
    """Return the actions that ``predict`` chooses, [n]."""
    told: Any = {"action_masks": legal} if is_masked(model) else {}
    return np.asarray(model.predict(seen, deterministic=True, **told)[0])


@torch.no_grad()
def action_values(model: BaseAlgorithm, seen: NDArray[np.generic], legal: Bools) -> Floats:
    """Return a network's action values, [n, A]; for MaskedDQN minus infinity where illegal."""
    given = model.policy.obs_to_tensor(seen)[0]
    q = mean_values(value_network(model.policy), given).cpu().numpy().astype(np.float64)
    return np.where(legal, q, -np.inf) if isinstance(model, MaskedDQN) else q


def value_network(policy: Any) -> nn.Module:
    """Return the network of action values of a policy of DQN or QR-DQN, or of their quantiles."""
    network: nn.Module = policy.quantile_net if isinstance(policy, QRDQNPolicy) else policy.q_net
    return network


def mean_values(network: nn.Module, seen: Any) -> torch.Tensor:
    """Return the action values of a network, [n, A]; of quantiles, [n, N, A], their means.

    Args:
        network: A network of action values or of their quantiles.
        seen: [n, ...] observations.
    """
    found: torch.Tensor = network(seen)
    return found.mean(dim=1) if found.dim() == 3 else found


def log_policy(policy: Any, seen: Any, legal: Bools) -> torch.Tensor:
    """Return a network's log probabilities of all actions, [n, A].

    Args:
        policy: The actor and critic.
        seen: [n, ...] observations.
        legal: [n, A] the legal actions, where they are masked.
    """
    told = {"action_masks": legal} if isinstance(policy, MaskableActorCriticPolicy) else {}
    observation, _ = policy.obs_to_tensor(seen)
    found: torch.Tensor = policy.get_distribution(observation, **told).distribution.logits
    return found


@torch.no_grad()
def _action_probabilities(model: BaseAlgorithm, seen: NDArray[np.generic], legal: Bools) -> Floats:
    """Return action weights, [n, A]; the greedy action has the largest, the first on ties."""
    chances = torch.softmax(log_policy(model.policy, seen, legal), dim=1).cpu().numpy()
    # sb3-contrib masks with a logit of -1e8, which is small but not nothing.
    return np.where(legal, chances, 0.0) if is_masked(model) else np.asarray(chances)


def _check_kind(model: BaseAlgorithm) -> None:
    """Refuse a learner whose policy is not of a known kind."""
    if isinstance(model.policy, RecurrentActorCriticPolicy):
        raise ValueError(
            f"the network is a {type(model.policy).__name__}, which depends on earlier "
            f"observations, so it has no table over the game's states; train one without memory"
        )
    kinds = (ActorCriticPolicy, MaskableActorCriticPolicy, *OF_ACTION_VALUES)
    if not isinstance(model.policy, kinds):
        raise ValueError(
            f"the network is a {type(model.policy).__name__}; "
            f"allowed are {', '.join(kind.__name__ for kind in kinds)}"
        )
    if isinstance(model, DQN):
        # A file of one can be loaded as the other, which then plays another policy.
        told = issubclass(model.replay_buffer_class or MaskedReplayBuffer, MaskedReplayBuffer)
        if told != isinstance(model, MaskedDQN):
            one, other = ("MaskedDQN", "DQN") if told else ("DQN", "MaskedDQN")
            raise ValueError(f"the network was trained by {one}, but loaded as one of {other}")


def _mean_of_quantiles(network: Network, n_quantiles: int) -> Network:
    """Return a network of means from one that outputs n quantiles, each for all actions in turn.

    The last layer is affine, so the mean of its outputs is that of its weights.
    """
    weight, bias = network.weights[-1], network.biases[-1]
    return replace(
        network,
        weights=(*network.weights[:-1], weight.reshape(len(weight), n_quantiles, -1).mean(axis=1)),
        biases=(*network.biases[:-1], bias.reshape(n_quantiles, -1).mean(axis=0)),
    )


def _network(modules: list[nn.Module]) -> Network:
    """Return the layers of a network, all affine with one kind of activation in between."""
    layers = [module for module in modules if isinstance(module, nn.Linear)]
    between = {type(module) for module in modules if not isinstance(module, nn.Linear)}
    if len(between) > 1 or not between <= set(_ACTIVATIONS):
        names = ", ".join(sorted(kind.__name__ for kind in between))
        raise ValueError(f"the network has {names} between its layers; allowed are ReLU or Tanh")
    return Network(
        tuple(np.ascontiguousarray(layer.weight.detach().cpu().numpy().T) for layer in layers),
        tuple(layer.bias.detach().cpu().numpy().copy() for layer in layers),
        _ACTIVATIONS[between.pop()] if between else "relu",
    )
