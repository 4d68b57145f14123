"""A function's table is the function: what it gives in every state, and what the environment plays
of that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import solvent
from solvent import policy_from
from solvent.model import TabularGame, compile_game, project


@pytest.fixture(scope="module")
def game() -> TabularGame:
    """A combat of a few hundred states, in some of which the second action is illegal."""
    rules = solvent.make_game("ff-combat", stamina=4, opponent_stamina=[3, 5], luck=[0, 3])
    return compile_game(rules)


def linear(game: TabularGame, player: int = 0, seed: int = 0) -> Any:
    """Logits that are linear in the observation; in float32, as networks compute."""
    random = np.random.default_rng(seed)
    shape = game.observation[player].shape[1], game.mask[player].shape[1]
    weights = random.normal(size=shape).astype(np.float32)
    return lambda seen: seen @ weights


def softmax(logits: Any) -> Any:
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def every_state(game: TabularGame, f: Any, player: int = 0) -> Any:
    """What a function gives in every state, also where nobody asks it."""
    return f(game.observation[player]).astype(np.float64)


def test_logits_are_played_as_the_environment_plays_them(game: TabularGame) -> None:
    f = linear(game)
    mask, forced = game.mask[0], game.action_count[0] == 1
    sampled = softmax(every_state(game, f))
    policy = policy_from(game, f, outputs="logits")
    np.testing.assert_allclose(policy.probabilities, project(sampled, mask), atol=1e-12)
    assert forced.any()
    assert (sampled[forced, 1] > 0.01).any(), "nothing is illegal, so the test shows nothing"


def test_rows_in_single_precision_are_divided_by_their_sum(game: TabularGame) -> None:
    f = linear(game)

    def rounded(seen: Any) -> Any:
        # Half precision: sums are off by a thousandth at most, by far more than float64's 1e-9.
        return softmax(f(seen)).astype(np.float16)

    policy = policy_from(game, rounded)
    live = ~game.terminal
    rows = rounded(game.observation[0]).astype(float)
    assert np.abs(rows.sum(axis=1) - 1).max() > 1e-5
    np.testing.assert_allclose(policy.probabilities.sum(axis=1)[live], 1, atol=1e-12)
    expected = project(rows / rows.sum(axis=1, keepdims=True), game.mask[0])
    np.testing.assert_allclose(policy.probabilities, expected, atol=1e-12)


@pytest.mark.parametrize("outputs", ["probabilities", "logits", "action_values"])
def test_masked_is_chosen_among_legal_actions_only(game: TabularGame, outputs: str) -> None:
    f = linear(game)
    given = f if outputs != "probabilities" else (lambda seen: softmax(f(seen)))
    policy = policy_from(game, given, outputs=outputs, illegal="mask").probabilities
    logits = np.where(game.mask[0], every_state(game, f), -np.inf)
    live = ~game.terminal
    if outputs == "action_values":
        expected = np.eye(2)[logits[live].argmax(axis=1)]
    else:
        expected = softmax(logits[live])
    np.testing.assert_allclose(policy[live], expected, atol=1e-6)


def test_a_function_may_be_told_what_is_legal(game: TabularGame) -> None:
    def last_legal(seen: Any, masks: Any) -> Any:
        assert masks.dtype == bool
        assert len(masks) == len(seen)
        return masks.shape[1] - 1 - masks[:, ::-1].argmax(axis=1)

    policy = policy_from(game, last_legal, takes_mask=True, illegal="raise")
    live = ~game.terminal
    both = game.mask[0].all(axis=1)
    assert (policy.probabilities[both] == [0, 1]).all()
    assert (policy.probabilities[live & ~both] == [1, 0]).all()


def test_a_module_of_pytorch_is_asked_as_it_is_after_training(game: TabularGame) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(5, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 2))
    net[0].eval()
    policy = policy_from(game, net, outputs="logits")
    assert [part.training for part in net] == [False, True, True]
    hidden = game.observation[0] @ net[0].weight.detach().numpy().T + net[0].bias.detach().numpy()
    logits = hidden @ net[2].weight.detach().numpy().T + net[2].bias.detach().numpy()
    expected = project(softmax(logits.astype(float)), game.mask[0])
    np.testing.assert_allclose(policy.probabilities, expected, atol=1e-6)
    # What a function hands on may know its gradient.
    through = policy_from(
        game, lambda seen: net[2](net[0](torch.as_tensor(seen))), outputs="logits"
    )
    np.testing.assert_allclose(policy.probabilities, through.probabilities, atol=1e-6)
    with pytest.raises(ValueError, match="switches off dropout"):
        policy_from(game, lambda seen: net(torch.as_tensor(seen)), outputs="logits")


def rows(*row: float) -> Any:
    """The function that gives the same row for every observation."""
    return lambda seen: np.tile(row, (len(seen), 1))


RANDOM = np.random.default_rng(0)

REFUSED: list[tuple[Any, dict[str, Any], str]] = [
    (rows(0.495, 0.495), {}, r"sum to .*not to 1 within 0\.001.*outputs='logits'"),
    (rows(0.505, 0.505), {}, r"sum to .*not to 1 within 0\.001.*outputs='logits'"),
    (rows(-1, 2), {}, "negative or not numbers"),
    (rows(np.nan, np.nan), {}, "negative or not numbers"),
    (lambda seen: np.full(len(seen), 2), {}, r"takes an action in state Combat.*: 2; there are 2"),
    (lambda seen: np.zeros((len(seen), 1), int), {"outputs": "actions"},
     r"actions are whole numbers of shape \(\d+,\)"),
    (lambda seen: np.zeros(len(seen)), {},
     r"of shape \(\d+,\) for .* expected are probabilities"),
    (rows(0, 1), {"illegal": "mask"}, r"no probability to a legal action .*illegal='remap'"),
    (lambda seen: np.ones(len(seen), int), {"illegal": "mask"},
     r"takes an illegal action .*takes_mask=True"),
    (rows(0, 1), {"illegal": "raise"}, r"probability to an illegal action .*illegal='mask'"),
    (lambda seen: RANDOM.integers(0, 2, len(seen)), {},
     r"and then .* for the same observation, .*probabilities"),
    (lambda seen: RANDOM.normal(size=(len(seen), 2)), {"outputs": "logits"},
     "for the same observation"),
    (lambda seen: (np.zeros((3, 2)), np.zeros(3)), {}, "gave a tuple; one array is expected"),
    (lambda seen: {"logits": np.zeros((3, 2))}, {}, "gave a dict; one array is expected"),
    (lambda seen: "stop", {}, "expected are numbers"),
    (lambda seen: None, {}, "expected are numbers"),
    (lambda seen: np.zeros((3, 2)), {}, r"shape \(3, 2\) for \d+ observations; .* a column for"),
    *((rows(0, worst), {"outputs": outputs}, "without a finite largest one")
      for worst in (np.nan, np.inf) for outputs in ("logits", "action_values")),
    (rows(0, 1), {"outputs": "logit"}, "outputs is 'logit'; .*Did you mean 'logits'"),
    (rows(0, 1), {"illegal": "masked"}, "illegal is 'masked'; .*Did you mean 'mask'"),
    (rows(0, 1), {"observation": "one-hot"}, "is 'one-hot'; .*Did you mean 'onehot'"),
    (rows(0, 1), {"observation": np.zeros((3, 5))},
     r"observation is an array of shape \(3, 5\); .* states"),
    (rows(0, 1), {"player": 2}, "player is 2"),
    (rows(0, 1), {"batch_size": 0}, "batch_size is 0"),
]  # fmt: skip


def test_what_is_no_policy_is_refused(game: TabularGame) -> None:
    for function, arguments, message in REFUSED:
        with pytest.raises(ValueError, match=message):
            policy_from(game, function, **arguments)
