"""TorchRL's ClipPPO on one game with its masks, scored exactly; then both players of two games."""

import pettingzoo
import torch
from tensordict.nn import TensorDictModule
from torchrl.collectors import Collector
from torchrl.data import Unbounded
from torchrl.envs import (
    ActionMask,
    Compose,
    DTypeCastTransform,
    GymEnv,
    PettingZooWrapper,
    TransformedEnv,
)
from torchrl.envs.gym_like import default_info_dict_reader
from torchrl.envs.utils import MarlGroupMapType
from torchrl.modules import MaskedCategorical, ProbabilisticActor, ValueOperator
from torchrl.objectives import ClipPPOLoss
from torchrl.objectives.value import GAE

import solvent

torch.manual_seed(0)
base = GymEnv("solvent/FFCombat-v0", categorical_action_encoding=True)
n_actions, width = base.action_spec.n, base.observation_spec["observation"].shape[-1]
masks = {"action_mask": Unbounded((n_actions,), dtype=torch.int8)}
base.set_info_dict_reader(default_info_dict_reader(["action_mask"], spec=masks))
as_bool = DTypeCastTransform(torch.int8, torch.bool, in_keys=["action_mask"])
env = TransformedEnv(base, Compose(as_bool, ActionMask()))


def network(outputs):
    return torch.nn.Sequential(
        torch.nn.Linear(width, 64), torch.nn.Tanh(), torch.nn.Linear(64, outputs)
    )


logits = network(n_actions)
actor = ProbabilisticActor(
    TensorDictModule(logits, ["observation"], ["logits"]),
    in_keys={"logits": "logits", "mask": "action_mask"},
    distribution_class=MaskedCategorical,
    return_log_prob=True,
)
critic = ValueOperator(network(1), in_keys=["observation"])
advantage = GAE(gamma=1.0, lmbda=0.95, value_network=critic)
loss = ClipPPOLoss(actor, critic)
optimizer = torch.optim.Adam(loss.parameters(), lr=3e-4)
for batch in Collector(env, actor, frames_per_batch=128, total_frames=512):
    advantage(batch)
    losses = loss(batch)
    optimizer.zero_grad()
    sum(value for name, value in losses.items() if name.startswith("loss_")).backward()
    optimizer.step()

score = solvent.score("solvent/FFCombat-v0", logits, outputs="logits", illegal="mask")
print(score)

greed = PettingZooWrapper(pettingzoo.make("aec", "solvent/greed", limit=20, sides=4), use_mask=True)
football = PettingZooWrapper(
    pettingzoo.make("parallel", "solvent/football-strategy"),
    group_map=MarlGroupMapType.ONE_GROUP_PER_AGENT,
)
rollouts = {
    name: env.rollout(100, break_when_any_done=False)
    for name, env in {"greed": greed, "football": football}.items()
}
print({name: rollout.shape[0] for name, rollout in rollouts.items()})
