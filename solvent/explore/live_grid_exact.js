// The exact solution of a grid, and of any policy in it: linear equations, no sampling.

/** @typedef {{values: Float64Array, start: number}} Evaluated */

const CANCELS = 1e-9;

/** Solve x = b + A x by elimination. I − A is an M-matrix, so that no pivots are needed.
 * @param {Map<number, number>[]} A the entries of each row @param {number[]} b */
function fixedPoint(A, b) {
  const n = b.length;
  const rows = A.map((entries, i) => {
    const row = new Float64Array(n + 1);
    row[i] = 1;
    for (const [j, entry] of entries) row[j] -= entry;
    row[n] = b[i];
    return row;
  });
  for (let k = 0; k < n; k++) {
    for (let i = k + 1; i < n; i++) {
      const factor = rows[i][k] / rows[k][k];
      if (factor) for (let j = k; j <= n; j++) rows[i][j] -= factor * rows[k][j];
    }
  }
  const x = new Float64Array(n);
  for (let i = n - 1; i >= 0; i--) {
    x[i] = rows[i][n];
    for (let j = i + 1; j < n; j++) x[i] -= rows[i][j] * x[j];
    x[i] /= rows[i][i];
  }
  return x;
}

/** All states that can reach a goal. @param {number[]} states
 * @param {(s: number) => Iterable<number>} next @param {(s: number) => boolean} goal */
function reaching(states, next, goal) {
  /** @type {Map<number, number[]>} */
  const before = new Map();
  for (const s of states) {
    for (const to of next(s)) before.set(to, [...(before.get(to) ?? []), s]);
  }
  const found = new Set(states.filter(goal));
  for (const s of found) for (const from of before.get(s) ?? []) found.add(from);
  return found;
}

/** The sets of cells that an episode goes round in for ever, once it is in one of them.
 * @param {number[]} endless cells from which no end can be reached
 * @param {Map<number, number>[]} next the probabilities of the next cells */
function recurrentClasses(endless, next) {
  /** @type {Set<number>[]} */
  const from = [];
  for (const s of endless) {
    from[s] = new Set([s]);
    for (const at of from[s]) for (const to of next[at].keys()) from[s].add(to);
  }
  const returning = endless.filter((s) => [...from[s]].every((to) => from[to].has(s)));
  return returning.filter((s) => s === Math.min(...from[s])).map((s) => [...from[s]]);
}

/** @param {Float64Array} values @param {number[]} cells */
const meanOf = (values, cells) => cells.reduce((sum, s) => sum + values[s], 0) / cells.length;

/**
 * The values of a policy. Without a discount an episode may go on for ever: what it collects there
 * decides whether the value is finite, −∞ or ∞, or none (NaN) if rewards cancel.
 * @param {Problem} problem @param {ArrayLike<number>[]} pi the action probabilities of each cell
 * @returns {Evaluated}
 */
function evaluate({states, starts, over, moves, gamma}, pi) {
  const [reward, turnover, values] = [0, 1, 2].map(() => new Float64Array(over.length));
  /** @type {Map<number, number>[]} */
  const next = over.map(() => new Map());
  const ends = new Set();
  for (const s of states) {
    moves[s].forEach((branches, a) => {
      for (const [p, s2, r] of pi[s][a] ? branches : []) {
        const weight = pi[s][a] * p;
        reward[s] += weight * r;
        turnover[s] += weight * Math.abs(r);
        if (over[s2]) ends.add(s);
        else next[s].set(s2, (next[s].get(s2) ?? 0) + weight);
      }
    });
  }
  /** The values of some cells, given those of all others.
   * @param {number[]} unknown @param {Float64Array} paid */
  const solveIn = (unknown, paid) => {
    const place = new Map(unknown.map((s, i) => [s, i]));
    /** @type {Map<number, number>[]} */
    const A = unknown.map(() => new Map());
    const b = unknown.map((s, i) => {
      let known = paid[s];
      for (const [to, p] of next[s]) {
        const j = place.get(to);
        if (j === undefined) known += gamma * p * values[to];
        else A[i].set(j, gamma * p);
      }
      return known;
    });
    return fixedPoint(A, b);
  };
  const steps = (/** @type {number} */ s) => next[s].keys();
  const ending = reaching(states, steps, (s) => ends.has(s));
  const classes = gamma < 1 ? [] : recurrentClasses(states.filter((s) => !ending.has(s)), next);
  for (const [base, ...others] of classes) {
    // The gain: what is collected from one visit of the first cell to the next.
    const [gain, size] = [reward, turnover].map((paid) => {
      const until = solveIn(others, paid);
      return paid[base] + others.reduce((sum, s, i) => sum + (next[base].get(s) ?? 0) * until[i], 0);
    });
    const infinite = Math.abs(gain) <= CANCELS * size ? NaN : gain * Infinity;
    if (size > 0) for (const s of reaching(states, steps, (t) => t === base)) values[s] += infinite;
  }
  const settled = new Set(classes.flat());
  const unknown = states.filter((s) => !settled.has(s) && Number.isFinite(values[s]));
  const solved = solveIn(unknown, reward);
  unknown.forEach((s, i) => values[s] = solved[i]);
  return {values, start: meanOf(values, starts)};
}

/** The value of each action, given the values of the cells that follow.
 * @param {Problem} problem @param {number} s @param {ArrayLike<number>} values */
const lookahead = ({moves, gamma}, s, values) => moves[s].map((branches) =>
  branches.reduce((sum, [p, , r]) => sum + p * r, 0) +
  branches.reduce((sum, [p, s2]) => sum + p * gamma * values[s2], 0));

/** The cells in which an episode can stay for ever without any reward. @param {Problem} problem */
function idleCells({states, moves}) {
  let idle = new Set(states);
  for (let before = -1; before !== idle.size;) {
    before = idle.size;
    idle = new Set([...idle].filter((s) => moves[s].some((branches) =>
      branches.every(([, s2, r]) => r === 0 && idle.has(s2)))));
  }
  return idle;
}

/**
 * The optimum by policy iteration; null if there is none.
 *
 * The first policy, the uniform one, ends the episode if any does. So does each better one, unless
 * rewards can be collected for ever. Without a discount there is no optimum then, nor if no end can
 * be reached from some cell, or if going on for ever without a reward is better than every end.
 * @param {Problem} problem @returns {Evaluated | null}
 */
function optimum(problem) {
  const {states, over, moves, gamma} = problem;
  const pi = over.map(() => [1 / 4, 1 / 4, 1 / 4, 1 / 4]);
  const next = (/** @type {number} */ s) => moves[s].flat().map(([, s2]) => s2);
  const ending = reaching(states, next, (s) => next(s).some((s2) => over[s2]));
  if (gamma === 1 && ending.size < states.length) return null;
  for (;;) {
    const found = evaluate(problem, pi);
    const {values} = found;
    if (!values.every(Number.isFinite)) return null;
    let stable = true;
    for (const s of states) {
      const Q = lookahead(problem, s, values);
      const best = Math.max(...Q);
      if (best > values[s] + 1e-12 * (1 + Math.abs(values[s]))) {
        pi[s] = Q.map((_, a) => Number(a === Q.indexOf(best)));
        stable = false;
      }
    }
    if (!stable) continue;
    const idle = gamma < 1 ? [] : [...idleCells(problem)];
    return idle.some((s) => values[s] < -1e-9) ? null : found;
  }
}
