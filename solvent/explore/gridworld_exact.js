// The exact solution of a grid, and of any policy in it: linear equations, no sampling.

/** @typedef {{values: Float64Array, start: number}} Evaluated */

const CANCELS = 1e-9;

/**
 * Solve x = b + A x by elimination. I − A is an M-matrix, so that no pivots are needed.
 * @param {Map<number, number>[]} A the entries of each row
 * @param {number[]} b
 */
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
    let sum = rows[i][n];
    for (let j = i + 1; j < n; j++) sum -= rows[i][j] * x[j];
    x[i] = sum / rows[i][i];
  }
  return x;
}

/**
 * All that can reach a set, by the steps of a graph backward.
 * @param {number[]} states @param {(s: number) => Iterable<number>} next
 * @param {(s: number) => boolean} goal
 */
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

/**
 * The sets of cells that an episode goes round in for ever, once it is in one of them.
 * @param {number[]} endless cells from which no end can be reached
 * @param {Map<number, number>[]} next the probabilities of the next cells
 */
function recurrentClasses(endless, next) {
  const from = new Map(endless.map((s) => {
    const seen = new Set([s]);
    for (const at of seen) for (const to of next[at].keys()) seen.add(to);
    return [s, seen];
  }));
  const returning = endless.filter((s) => [...from.get(s)].every((to) => from.get(to).has(s)));
  return returning.map((s) => [...from.get(s)]).filter((one, i) => Math.min(...one) === returning[i]);
}

/**
 * The values of a policy. Without a discount an episode may go on for ever: what it collects there
 * decides whether the value is finite, −∞ or ∞, or none (NaN) if rewards cancel.
 * @param {Problem} problem
 * @param {ArrayLike<number>[]} pi the probability of each action, by cell
 * @returns {Evaluated}
 */
function evaluate(problem, pi) {
  const {size, states, over, moves, gamma} = problem;
  const reward = new Float64Array(size);
  const turnover = new Float64Array(size);
  /** @type {Map<number, number>[]} */
  const next = Array.from({length: size}, () => new Map());
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

  const values = new Float64Array(size);
  /** @param {number[]} unknown @param {Float64Array} paid */
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
  solveIn(unknown, reward).forEach((value, i) => {
    values[unknown[i]] = value;
  });
  return {values, start: meanOf(values, problem.starts)};
}

/** @param {Float64Array} values @param {number[]} cells */
const meanOf = (values, cells) => cells.reduce((sum, s) => sum + values[s], 0) / cells.length;

/**
 * The value of each action, given the values of the cells that follow.
 * @param {Problem} problem @param {number} s @param {ArrayLike<number>} values
 */
const lookahead = ({moves, gamma}, s, values) => moves[s].map((branches) =>
  branches.reduce((sum, [p, s2, r]) => sum + p * (r + gamma * values[s2]), 0));

/**
 * The cells in which an episode can stay for ever without any reward.
 * @param {Problem} problem
 */
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
 * The optimum by policy iteration; null if some value is infinite.
 *
 * Without a discount a policy may also stay for ever where that costs nothing. There a fifth action
 * ends the episode, so that the first policy, the uniform one, ends it from everywhere. Each better
 * policy then ends, too, unless rewards can be collected for ever.
 * @param {Problem} problem
 * @returns {Evaluated | null}
 */
function optimum(problem) {
  const {size, states, over, moves, gamma, starts} = problem;
  const idle = gamma < 1 ? new Set() : idleCells(problem);
  /** @type {Problem} */
  const wide = {
    ...problem, size: size + 1, over: [...over, true],
    moves: moves.map((own, s) => idle.has(s) ? [...own, [[1, size, 0]]] : own),
  };
  const pi = wide.moves.map((own) => own.map(() => 1 / own.length));
  for (;;) {
    const {values} = evaluate(wide, pi);
    if (!values.every(Number.isFinite)) return null;
    let stable = true;
    for (const s of states) {
      const Q = lookahead(wide, s, values);
      const best = Math.max(...Q);
      if (best > values[s] + 1e-12 * (1 + Math.abs(values[s]))) {
        pi[s] = Q.map((value, a) => Number(a === Q.indexOf(best)));
        stable = false;
      }
    }
    if (stable) return {values: values.slice(0, size), start: meanOf(values, starts)};
  }
}
