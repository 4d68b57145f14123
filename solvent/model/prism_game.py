"""Markov chains and decision processes of probabilistic model checkers as games for one player.

Storm (Hensel et al. 2022, "The probabilistic model checker Storm") reads the languages: PRISM
(``.prism``, ``.pm``, ``.nm``), JANI, and the explicit formats DRN and UMB. A *property* states the
quantity to optimise:

==========================  =====================================================================
``Pmax=? [F phi]``          the largest probability of ever reaching a state in which phi holds
``Pmin=? [phi U psi]``      the smallest of reaching psi on a path on which phi holds until then
``R{"name"}max=? [F phi]``  the largest expected reward before phi is reached
``R{"name"}min=? [F phi]``  the smallest
==========================  =====================================================================

A Markov chain has one action, and ``P=?`` or ``R=?``.

**Signs.** The player of a game maximises. A minimum is turned into the maximum of the *negative*
quantity: under ``Pmin`` the reward for reaching the goal is -1, and under ``Rmin`` all rewards
change their sign. The property's value is :attr:`PrismGame.sign` times the game's.

**Episodes end** in the goal, whatever the model does after it, and in states where the property is
decided. Under ``Pmax`` these are the states from which the goal cannot be reached. Under ``Pmin``
they are those where the goal can be avoided for ever, so that episodes end under an optimal policy
(Baier and Katoen 2008, *Principles of Model Checking*, 10.6.1; de Alfaro 1997, *Formal Verification
of Probabilistic Systems*). Both sets follow from the graph of transitions, and change no value.

**Infinite rewards.** An expected reward is infinite wherever the goal need not be reached. Under
``Rmin`` only policies that reach the goal with certainty count, so actions are left out that may
lead to a state where no such policy exists. Under ``Rmax`` every policy must reach the goal. A
model with an infinite value at the start is refused, and so is one in which going round for ever
without a reward would attain ``Rmin``.

**Child process.** Some inputs end Storm, and the interpreter with it: a division by zero, thousands
of parentheses, more states than fit into memory. So a model is read in a child process. If that
ends, an error is raised here. Ctrl-C ends it if it takes too long.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from signal import Signals
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from solvent.model.arrays import Bools, Floats, Ints
from solvent.model.game import WINS, GameInfo, JointAction, Outcome, Words
from solvent.model.parameters import brief, check_choice, described, shown
from solvent.model.walk import rationals

EXACT_STATES = 20_000
"""Models of up to this many states are read in rationals, larger ones in floats."""

SUFFIXES = (".prism", ".pm", ".nm", ".jani", ".drn", ".umb")
"""The files that are read."""

ALLOWED = (
    "allowed are Pmax, Pmin or P=? of [F phi] and [phi U psi], and Rmax, Rmin or R=? of [F phi], "
    'such as Pmax=? [F "goal"] or R{"steps"}min=? [F x=3]'
)

# The program of the child process, which has the module path of its parent.
_CHILD = "from solvent.model.prism_game import answer_parent; answer_parent()"

# The name of an action that the model does not label.
_UNNAMED = "unlabelled"


def game_from_prism(path: str | Path, *, property: str, constants: str = "") -> PrismGame:
    """Return the game of a model and a property.

    Args:
        path: Path of the model, a file with one of the endings :data:`SUFFIXES`.
        property: Property to optimise, in PRISM's language; for JANI also the name of a property in
            the file.
        constants: The values of the constants that the model leaves open, such as ``"N=3,K=2"``.

    Raises:
        ValueError: If the file, a constant or the property cannot be read, or ends Storm; if the
            model is not a fully observed Markov chain or decision process in discrete time; or if
            the property has another form than the module lists, an infinite value, or is decided
            at the start.
        FileNotFoundError: If there is no such file.
        ModuleNotFoundError: If stormpy is not installed (``pip install 'solvent[prism]'``).
    """
    path = Path(path)
    if not property:
        raise ValueError(f"{path.name}: the property is missing; {ALLOWED}")
    check_choice(path.suffix, f"the ending of {path.name}", SUFFIXES)
    if not path.is_file():
        raise FileNotFoundError(2, "there is no such file", str(path))
    if find_spec("stormpy") is None:
        raise ModuleNotFoundError("No module named 'stormpy'", name="stormpy")
    child = subprocess.run(
        [sys.executable, "-P", "-c", _CHILD],
        input=pickle.dumps((path, property, str(constants))),
        capture_output=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    if code := child.returncode:
        how = Signals(-code).name if code < 0 else child.stderr.decode(errors="replace")[-300:]
        raise ValueError(
            f"{path.name} with the property {shown(property)} cannot be read: it ends Storm "
            f"({how}), as a division by zero does, deep nesting, or too many states for the memory"
        )
    answer: PrismGame | str = pickle.loads(child.stdout)  # noqa: S301  # Written by our own code.
    if isinstance(answer, str):
        raise ValueError(answer)
    return answer


def answer_parent() -> None:
    """Read the model that standard input names, and write its game, or the error as text."""
    asked = pickle.load(sys.stdin.buffer)  # noqa: S301  # Written by our own code.
    with os.fdopen(os.dup(1), "wb") as back:
        # Storm writes its messages to the standard output, too.
        os.dup2(2, 1)
        answer: PrismGame | str
        try:
            answer = read_model(*asked)
        except ValueError as error:
            answer = str(error)
        pickle.dump(answer, back)


def read_model(path: Path, property: str, constants: str) -> PrismGame:
    """Read a model in this process; as for :func:`game_from_prism`.

    Raises:
        ValueError: As for :func:`game_from_prism`, except that inputs that end Storm end this
            process.
    """
    try:
        model, wanted = _built(path, property, constants)
    except Exception as error:  # Storm raises many kinds, of which RuntimeError is one.
        what = brief(" ".join(str(error).split()), 300) or type(error).__name__
        raise ValueError(
            f"{path.name} with the property {shown(property)} cannot be read: {what}"
        ) from error
    return _Reading(path, property, constants, model, wanted.get_raw_formula()).read()


def maker(path: str) -> Callable[..., PrismGame]:
    """Return a maker of the game of a model, which takes the property.

    Args:
        path: Path of the model.
    """

    def make(property: str = "", constants: str = "") -> PrismGame:
        return game_from_prism(path, property=property, constants=constants)

    text = f"""The model {Path(path).name}, read by Storm.

Args:
    property: Property to optimise, such as 'Pmax=? [F "goal"]'.
    constants: The constants that the model leaves open, such as N=3,K=2.
"""
    return described(make, text, ())


State: TypeAlias = tuple[Any, ...]
"""The values of the variables."""


@dataclass(frozen=True, eq=False)
class PrismGame(Words):
    """A model and a property as a game; made by :func:`game_from_prism`.

    A state is the tuple of the variables' values, or the state's number alone if the file has no
    variables; observations are the values, scaled to [0, 1].

    Attributes:
        info: The model's file, its property and its constants.
        start: The model's one initial state.
        outcomes: The distribution of each action in each state; none where the goal is reached or
            the property is decided in another way. If the model was read in floats, probabilities
            are the rationals that the floats stand for.
        variables: The names of the variables.
        sign: Factor from the game's value to the property's: -1 if the property asks for a
            minimum, else 1.
    """

    info: GameInfo
    start: State
    outcomes: Mapping[State, Mapping[int, tuple[Outcome, ...]]]
    variables: tuple[str, ...]
    sign: int

    def initial(self) -> tuple[Outcome, ...]:
        """The model's one initial state."""
        return (Outcome(Fraction(1), self.start),)

    def legal_actions(self, state: State) -> tuple[tuple[int, ...], ...]:
        """The actions of the model in a state."""
        return (tuple(self._outcomes_of(state)),)

    def transition(self, state: State, joint_action: JointAction) -> tuple[Outcome, ...]:
        """The distribution of an action of the model."""
        return self._outcomes_of(state)[joint_action[0]]

    def is_terminal(self, state: State) -> bool:
        """Return whether the goal is reached, or the property is decided in another way."""
        return not self._outcomes_of(state)

    def observe(self, state: State, player: int) -> NDArray[np.float32]:
        """The variables' values, scaled to [0, 1]."""
        low, high = self._extremes
        return np.asarray(
            (np.array(state, float) - low) / np.maximum(high - low, 1e-300), np.float32
        )

    @cached_property
    def _extremes(self) -> tuple[Floats, Floats]:
        """The least and the largest value of each variable."""
        values = np.array(list(self.outcomes), float)
        return values.min(axis=0), values.max(axis=0)

    def coordinates(self, state: State) -> Mapping[str, Any]:
        """The value of each variable."""
        return dict(zip(self.variables, state, strict=True))

    def draw(self, state: State) -> str:
        """The variables and their values."""
        over = " (over)" if self.is_terminal(state) else ""
        return ", ".join(f"{k}={v}" for k, v in self.coordinates(state).items()) + over

    def _outcomes_of(self, state: State) -> Mapping[int, tuple[Outcome, ...]]:
        try:
            return self.outcomes[state]
        except (KeyError, TypeError):
            raise ValueError(f"{self.info.name} has no state {shown(state)}") from None


def _built(path: Path, property: str, constants: str) -> tuple[Any, Any]:
    """Storm's sparse model, and its property with the constants put in."""
    import stormpy

    if path.suffix in (".drn", ".umb"):
        if constants:
            raise RuntimeError(f"the constants {constants} are for a model that leaves some open")
        is_umb = path.suffix == ".umb"
        build = stormpy.build_model_from_umb if is_umb else stormpy.build_model_from_drn[float]
        return build(path), stormpy.parse_property(property)
    wanted = None
    if path.suffix == ".jani":
        program, own = stormpy.parse_jani_model(path)
        wanted = next((one for one in own if one.get_name() == property), None)
    else:
        program = stormpy.parse_prism_program(path)
    if wanted is None:
        wanted = stormpy.parse_property(property, program)
    program, [wanted] = stormpy.instantiate_constants(program, constants, [wanted])
    options = stormpy.BuilderOptions([wanted.get_raw_formula()])
    options.set_build_state_valuations(True)
    options.set_build_choice_labels(True)
    model = stormpy.build_model[float](program, None, options=options)
    if model.nr_states > EXACT_STATES:
        return model, wanted
    # Otherwise a value outside a variable's range would wrap to one inside. In floats the checks
    # would also refuse thirds, whose sum is not quite 1.
    options.set_exploration_checks(True)
    return stormpy.build_model[stormpy.Rational](program, None, options=options), wanted


class _Reading:
    """A model of Storm's being read.

    With S states, K rows and N outcomes of the model:

    ==================  =============  ==========================================================
    ``row_start``       [S+1] int64    rows of state s are ``row_start[s] : row_start[s+1]``
    ``outcome_start``   [K+1] int64    outcomes of row k are ``outcome_start[k] : ...[k+1]``
    ``target``          [N] int64      the state an outcome leads to
    ``probability``     [N] list       its probability, floats or Fractions
    ==================  =============  ==========================================================
    """

    def __init__(self, path: Path, wanted: str, constants: str, model: Any, formula: Any) -> None:
        self.name, self.wanted, self.constants = path.name, wanted, constants
        self.model, self.formula = model, formula
        # A number of Storm's as a float, or exactly as a Fraction.
        self.number: Callable[[Any], Any] = (
            (lambda x: Fraction(str(x))) if model.is_exact else float
        )
        kind = model.model_type.name.lower()
        if kind not in ("dtmc", "mdp"):
            raise ValueError(
                f"{self.name} is of the kind {kind}; allowed are Markov chains (dtmc) and decision "
                f"processes (mdp), whose time is discrete and whose state is seen"
            )
        matrix = model.transition_matrix
        start = [matrix.get_row_group_start(s) for s in range(model.nr_states)]
        self.row_start = np.array([*start, matrix.nr_rows])
        outcomes = [
            (row, entry.column, p)
            for row in range(matrix.nr_rows)
            for entry in matrix.get_row(row)
            if (p := self.number(entry.value))
        ]
        rows, targets, self.probability = zip(*outcomes, strict=True)
        self.outcome_row, self.target = np.array(rows), np.array(targets)
        self.outcome_start = np.searchsorted(self.outcome_row, np.arange(matrix.nr_rows + 1))
        self.row_state = np.repeat(np.arange(model.nr_states), np.diff(self.row_start))

    def read(self) -> PrismGame:
        """Return the game: the states that can be reached, and the rows that count."""
        formula, path = self.formula, getattr(self.formula, "subformula", None)
        chance = formula.is_probability_operator_formula
        until = path is not None and path.is_until_formula and chance
        fits = (chance or formula.is_reward_operator_formula) and not formula.has_bound
        if not fits or path is None or not (path.is_eventually_formula or until):
            raise self._refused(f"is of a form that is not supported; {ALLOWED}")
        if self.model.model_type.name == "MDP" and not formula.has_optimality_type:
            raise self._refused(f"does not say whether it asks for max or min; {ALLOWED}")
        least = formula.has_optimality_type and formula.optimality_type.name == "MINIMIZE"
        goal = self._holds(path.right_subformula if until else path.subformula)
        if chance:
            lost = ~goal & ~self._holds(path.left_subformula) if until else np.zeros_like(goal)
            over = goal | (self._avoidable(goal, lost) if least else ~self._reaching(goal, lost))
            rewards: list[Any] = goal[self.target].astype(int).tolist()
            allowed = np.ones(len(self.row_state), bool)
        else:
            rewards = self._rewards()
            over, allowed = goal, self._finite(goal, least, rewards)
        if len(self.model.initial_states) != 1:
            raise ValueError(f"{self.name} has {len(self.model.initial_states)} initial states")
        if over[self.model.initial_states].any():
            value = int(goal[self.model.initial_states].any()) if chance else 0
            raise self._refused(f"is {value} at the start, so that there is nothing to choose")
        return self._game(over, allowed, rewards, chance, -1 if least else 1)

    def _refused(self, why: str) -> ValueError:
        return ValueError(f"{self.name}: the property {shown(self.wanted)} {why}")

    def _holds(self, formula: Any) -> Bools:
        """[S] the states in which a formula about states holds."""
        import stormpy

        result = stormpy.model_checking(self.model, formula)
        found = np.zeros(self.model.nr_states, bool)
        # The result is the set of states in which the formula holds.
        found[list(result.get_truth_values_vector())] = True
        return found

    def _reaching(self, goal: Bools, barred: Bools, allowed: Bools | None = None) -> Bools:
        """[S] the states from which some path leads to the goal without passing a barred state.

        If `allowed` is given, [K], only these rows are used.
        """
        taken = np.ones(len(self.row_state), bool) if allowed is None else allowed
        return _fixed_point(
            lambda found: goal | (~barred & (found | self._with(taken & self._some(found)))), goal
        )

    def _avoidable(self, goal: Bools, lost: Bools) -> Bools:
        """[S] the states in which some policy never reaches the goal."""
        return _fixed_point(lambda found: found & (self._with(~self._some(~found)) | lost), ~goal)

    def _certain(self, goal: Bools) -> Bools:
        """[S] the states from which some policy reaches the goal with certainty."""

        def reaching_within(states: Bools) -> Bools:
            safe = ~self._some(~states)
            return _fixed_point(lambda found: found | self._with(safe & self._some(found)), goal)

        return _fixed_point(reaching_within, np.ones(len(goal), bool))

    def _some(self, states: Bools) -> Bools:
        """[K] the rows that may lead into a set of states."""
        rows = np.zeros(len(self.row_state), bool)
        rows[self.outcome_row[states[self.target]]] = True
        return rows

    def _with(self, rows: Bools) -> Bools:
        """[S] the states that have one of the given rows."""
        states = np.zeros(self.model.nr_states, bool)
        states[self.row_state[rows]] = True
        return states

    def _finite(self, goal: Bools, least: bool, rewards: list[Any]) -> Bools:
        """[K] the rows that count for an expected reward until the goal.

        Raises:
            ValueError: If the expected reward is infinite at the start, or play can go round for
                ever from there without a reward.
        """
        first = self.model.initial_states
        if not least:
            endless = self._avoidable(goal, np.zeros_like(goal))
            if self._reaching(endless, goal)[first].any():
                raise self._refused("is infinite: some policy need not reach the goal")
            return np.ones(len(self.row_state), bool)
        certain = self._certain(goal)
        if not certain[first].all():
            raise self._refused("is infinite: no policy reaches the goal for certain")
        allowed = ~self._some(~certain)
        free = allowed.copy()
        free[self.outcome_row[[bool(r) for r in rewards]]] = False
        found = _fixed_point(lambda found: found & self._with(free & ~self._some(~found)), ~goal)
        if self._reaching(found, goal, allowed)[first].any():
            raise self._refused(
                "counts going round for ever without a reward as infinite, a game here as 0; "
                "allowed are models without such loops"
            )
        return allowed

    def _rewards(self) -> list[Any]:
        """[N] the reward of each outcome: the state's, the action's and the transition's."""
        models = self.model.reward_models
        name = self.formula.reward_name if self.formula.has_reward_model_name() else ""
        if name not in models and not (name == "" and len(models) == 1):
            known = ", ".join(sorted(models)) or "none"
            raise self._refused(f"asks for the rewards {shown(name)}; the model has {known}")
        own = models[name] if name in models else next(iter(models.values()))
        found = np.zeros(len(self.target), object)
        if own.has_state_rewards:
            of_state = np.array([self.number(r) for r in own.state_rewards], object)
            found += of_state[self.row_state[self.outcome_row]]
        if own.has_state_action_rewards:
            of_row = np.array([self.number(r) for r in own.state_action_rewards], object)
            found += of_row[self.outcome_row]
        if own.has_transition_rewards:
            paid = {
                (row, entry.column): self.number(entry.value)
                for row in range(len(self.row_state))
                for entry in own.transition_rewards.get_row(row)
            }
            pairs = zip(self.outcome_row.tolist(), self.target.tolist(), strict=True)
            found += np.array([paid.get(pair, 0) for pair in pairs], object)
        return found.tolist()

    def _game(
        self, over: Bools, allowed: Bools, rewards: list[Any], chance: bool, sign: int
    ) -> PrismGame:
        """Return the game: the allowed rows of reachable states in which it is not over."""
        names, action = self._actions()
        variables, states = self._states()
        usable = allowed & ~over[self.row_state]
        start = int(self.model.initial_states[0])
        outcomes: dict[State, dict[int, tuple[Outcome, ...]]] = {}
        waiting = [start]
        while waiting:
            s = waiting.pop()
            if states[s] in outcomes:
                continue
            own = outcomes[states[s]] = {}
            rows = np.arange(*self.row_start[s : s + 2])
            for row in sorted(rows[usable[rows]].tolist(), key=action.__getitem__):
                branches = slice(*self.outcome_start[row : row + 2].tolist())
                chances, targets = self.probability[branches], self.target[branches].tolist()
                own[int(action[row])] = tuple(
                    Outcome(p, states[target], sign * Fraction(reward))
                    for p, target, reward in zip(
                        chances if self.model.is_exact else rationals(chances),
                        targets,
                        rewards[branches],
                        strict=True,
                    )
                )
                waiting += targets
        info = self._info(names, variables, chance, sign)
        return PrismGame(info, states[start], outcomes, tuple(variables), sign)

    def _info(self, actions: list[str], variables: list[str], chance: bool, sign: int) -> GameInfo:
        """The description of the game."""
        unit = WINS if chance and sign > 0 else ""
        if not chance and self.formula.has_reward_model_name():
            unit = self.formula.reward_name
        minimised = "minimised: a value here is minus the property's"
        return GameInfo(
            name=self.name,
            players=1,
            actions=(tuple(actions),),
            acyclic=False,
            reward_range=(min(0, sign), max(0, sign)) if chance else (-np.inf, np.inf),
            sources=(f"the model {self.name}, read by Storm", *[minimised] * (sign < 0)),
            parameters=(
                ("property", self.wanted),
                ("constants", self.constants),
                ("sign", sign),
            ),
            observation_labels=tuple(variables),
            unit=unit,
        )

    def _actions(self) -> tuple[list[str], Ints]:
        """The names of all actions, and the action of each row, [K].

        Several actions of one name in a state are numbered.
        """
        if self.model.model_type.name == "DTMC":
            return ["step"], np.zeros(len(self.row_state), np.int64)
        labels = self.model.choice_labeling if self.model.has_choice_labeling() else None
        keys: list[tuple[str, int]] = []
        met: Counter[tuple[int, str]] = Counter()
        for row, state in enumerate(self.row_state.tolist()):
            name = ", ".join(sorted(labels.get_labels_of_choice(row) if labels else ())) or _UNNAMED
            met[state, name] += 1
            keys.append((name, met[state, name]))
        order = {key: i for i, key in enumerate(sorted(set(keys)))}
        names = [name if copy == 1 else f"{name} #{copy}" for name, copy in order]
        return names, np.array([order[key] for key in keys], np.int64)

    def _states(self) -> tuple[list[str], list[State]]:
        """The names of the variables, and their values in each state."""
        count = self.model.nr_states
        if self.model.has_state_valuations():
            valuations = self.model.state_valuations
            try:
                found = [json.loads(str(valuations.to_json(s))) for s in range(count)]
            except RuntimeError:  # Explicit formats may have variables that stormpy cannot read.
                found = [{}]
            variables = list(found[0])
            states = [tuple(one[name] for name in variables) for one in found]
            if variables and len(set(states)) == count:
                return variables, states
        return ["state"], [(s,) for s in range(count)]


def _fixed_point(step: Callable[[Bools], Bools], found: Bools) -> Bools:
    """Repeat a step, which only adds states or only takes some away, until nothing changes."""
    while not np.array_equal(after := step(found), found):
        found = after
    return found
