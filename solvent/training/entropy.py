"""A bonus for entropy that falls to 0, as training in games for two has it.

Which action is best there depends on replies and later moves that are poor at first. A large bonus
(`ent_coef`, of PPO and MaskablePPO) keeps all actions alive meanwhile; with a small one the policy
makes up its mind before the values are right. At the end the bonus is 0, so that it does not pay
for anything random in the policy that is kept.
"""

from __future__ import annotations

from sb3_contrib import MaskablePPO
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback


class EntropyCallback(BaseCallback):
    """Lets the bonus for entropy fall in a line to 0, for learners that have one."""

    def _init_callback(self) -> None:
        self._begin = getattr(self.model, "ent_coef", 0.0)

    def _on_rollout_start(self) -> None:
        if isinstance(self.model, (PPO, MaskablePPO)):
            self.model.ent_coef = self._begin * self.model._current_progress_remaining

    def _on_step(self) -> bool:
        return True
