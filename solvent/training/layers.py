"""Actor and critic of Stable-Baselines3 as plain arrays: their gradient, and Adam's step.

For networks as small as these, a framework that records every operation to differentiate it
later spends more time on records than on sums. Here the gradient of linear layers with ReLU or
Tanh between them is written down (Rumelhart, Hinton and Williams 1986, *Learning representations
by back-propagating errors*), and all weights are pieces of one vector, so that a step of Adam
(Kingma and Ba 2015) is five operations on vectors. The numbers are those of PyTorch but for
rounding.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.utils import parameters_to_vector

ACTIVATIONS = (nn.ReLU, nn.Tanh)
"""What may stand between two layers."""


class Layers:
    """Linear layers with an activation between them.

    Args:
        layers: [out, in] weights and [out] biases of each.
        activation: Of :data:`ACTIVATIONS`.
        gradient: Where gradients are written; arrays of the shapes of `layers`.
    """

    def __init__(
        self,
        layers: Sequence[tuple[Tensor, Tensor]],
        activation: type[nn.Module],
        gradient: Sequence[tuple[Tensor, Tensor]] = (),
    ) -> None:
        self._layers = layers
        self._smooth = activation is nn.Tanh
        self._gradient = gradient
        self._inputs: list[Tensor] = []

    def __call__(self, seen: Tensor) -> Tensor:
        """The outputs, [n, out].

        Args:
            seen: [n, in] the inputs.
        """
        self._inputs = [seen]
        for weight, bias in self._layers[:-1]:
            found = torch.addmm(bias, self._inputs[-1], weight.T)
            self._inputs.append(found.tanh_() if self._smooth else found.relu_())
        weight, bias = self._layers[-1]
        return torch.addmm(bias, self._inputs[-1], weight.T)

    def backward(self, change: Tensor) -> None:
        """Write the gradient of the weights, for the last inputs; once for each call.

        Args:
            change: [n, out] the derivative of the loss by the outputs.
        """
        for k in reversed(range(len(self._layers))):
            given, (by_weight, by_bias) = self._inputs[k], self._gradient[k]
            torch.sum(change, 0, out=by_bias)
            torch.mm(change.T, given, out=by_weight)
            if k > 0:
                change = torch.mm(change, self._layers[k][0])
                change *= given.square_().neg_().add_(1) if self._smooth else given.sign_()


class ActorCritic:
    """The networks of a policy of Stable-Baselines3.

    Args:
        policy: The policy, of linear layers.
        learning: Whether its weights are to be changed. Then they are copies, which
            :meth:`write_back` puts in the place of those of the policy.
    """

    def __init__(self, policy: Any, *, learning: bool = False) -> None:
        self._own = [parameter.detach() for parameter in policy.parameters()]
        weights = gradient = self._own
        if learning:
            self._optimizer = policy.optimizer
            self._state = _adam_state(policy)
            self._step = self._state[0]["step"].item()
            self._weights = parameters_to_vector(self._own)
            self._gradient = torch.zeros_like(self._weights)
            self._mean, self._square = (
                parameters_to_vector([state[name] for state in self._state])
                for name in ("exp_avg", "exp_avg_sq")
            )
            weights = _pieces(self._weights, self._own)
            gradient = _pieces(self._gradient, self._own)
        place = {parameter.data_ptr(): k for k, parameter in enumerate(self._own)}
        both = []
        for body, head in (
            (policy.mlp_extractor.policy_net, policy.action_net),
            (policy.mlp_extractor.value_net, policy.value_net),
        ):
            linear = [one for one in (*body, head) if isinstance(one, nn.Linear)]
            at = [(place[one.weight.data_ptr()], place[one.bias.data_ptr()]) for one in linear]
            both.append(
                Layers(
                    [(weights[w], weights[b]) for w, b in at],
                    policy.activation_fn,
                    [(gradient[w], gradient[b]) for w, b in at],
                )
            )
        self.actor, self.critic = both

    def step(self, largest: float) -> None:
        """Take a step of Adam against the gradient.

        Args:
            largest: The gradient is scaled down to this norm if it is longer.
        """
        group = self._optimizer.param_groups[0]
        (beta_1, beta_2), eps, rate = group["betas"], group["eps"], group["lr"]
        gradient = self._gradient
        gradient *= (largest / (torch.linalg.vector_norm(gradient) + 1e-6)).clamp(max=1.0)
        self._step += 1
        self._mean.lerp_(gradient, 1 - beta_1)
        self._square.mul_(beta_2).addcmul_(gradient, gradient, value=1 - beta_2)
        size = (self._square.sqrt() / sqrt(1 - beta_2**self._step)).add_(eps)
        self._weights.addcdiv_(self._mean, size, value=-rate / (1 - beta_1**self._step))

    def write_back(self) -> None:
        """Put weights and Adam's moments in the place of those of the policy."""
        for vector, held in (
            (self._weights, self._own),
            (self._mean, [state["exp_avg"] for state in self._state]),
            (self._square, [state["exp_avg_sq"] for state in self._state]),
        ):
            for tensor, piece in zip(held, _pieces(vector, held), strict=True):
                tensor.copy_(piece)
        for state in self._state:
            state["step"].fill_(self._step)


def is_plain(policy: Any) -> bool:
    """Whether a policy's networks and its optimizer are of the kind that is written down here."""
    (group, *others), adam = policy.optimizer.param_groups, torch.optim.Adam
    return (
        policy.activation_fn in ACTIVATIONS
        and type(policy.optimizer) is adam
        and not others
        and not (group["weight_decay"] or group["amsgrad"] or group["maximize"])
    )


def _adam_state(policy: Any) -> list[dict[str, Tensor]]:
    """Adam's state of each parameter, begun where it has none yet."""
    state = policy.optimizer.state
    for parameter in policy.parameters():
        if not state[parameter]:
            state[parameter] = {
                "step": torch.tensor(0.0),
                "exp_avg": torch.zeros_like(parameter, requires_grad=False),
                "exp_avg_sq": torch.zeros_like(parameter, requires_grad=False),
            }
    return [state[parameter] for parameter in policy.parameters()]


def _pieces(vector: Tensor, like: Iterable[Tensor]) -> list[Tensor]:
    """A vector cut into tensors of some shapes, which share its memory."""
    shapes = [tensor.shape for tensor in like]
    cut = torch.split(vector, [shape.numel() for shape in shapes])
    return [piece.view(shape) for piece, shape in zip(cut, shapes, strict=True)]
