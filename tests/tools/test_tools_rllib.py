"""RLlib, which needs an environment of its own: the recipe is run as a reader would."""

from typing import Any

import pytest

pytestmark = pytest.mark.filterwarnings("default")


def test_rllib_trains_with_masks_and_its_policy_is_scored(run_scored: Any) -> None:
    made = run_scored("train_rllib", lambda made, seen, mask: made["logits"](seen, mask))
    assert made["trained"] == {"greed": 256, "football": 256}
