// The algorithms of the book (Sutton and Barto 2018), each as a generator that stops after every
// update and says which entries it has read and written. They are those of solvent.tabular: given
// the same random numbers, both make the same tables.

/**
 * @typedef {[cell: number, action: number]} Entry of a table; action −1 is the cell's V
 * @typedef {{write: Entry, reads: Entry[], unit?: boolean, improved?: boolean}} Backup
 * @typedef {{alpha: number, epsilon: number, lambda: number, n: number}} Settings
 * @typedef {{V: Float64Array, Q: Float64Array[], pi: Float64Array[]}} Table by cell
 * @typedef {(world: World, table: Table, p: Settings) => Generator<Backup>} Learn
 *
 * @typedef {object} Method
 * @property {string} name
 * @property {"sweep" | "episode"} unit
 * @property {"V" | "Q"} shows what its cells show
 * @property {(keyof Settings)[]} uses the settings that it has
 * @property {Partial<Settings>} [fixed] the settings that make it a case of a more general one
 * @property {boolean} [given] whether it estimates the values of a given policy
 * @property {boolean} [improves] whether it has a policy of its own, apart from its values
 * @property {Learn} run
 */

const TIE = 1e-9;
const THETA = 1e-10;
const MOST_POINTS = 2000;

/** Random numbers in [0, 1) by T. Ettinger's "mulberry32". @param {number} seed */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draw an index by its probability, with one random number.
 * @param {ArrayLike<number>} weights @param {() => number} uniform */
function draw(weights, uniform) {
  const sums = Array.from(weights);
  for (let i = 1; i < sums.length; i++) sums[i] += sums[i - 1];
  const number = uniform() * sums[sums.length - 1];
  return sums.findIndex((sum) => sum > number);
}

/** The ε-greedy policy in a cell; equally good actions are equally probable.
 * @param {ArrayLike<number>} q @param {number} [epsilon] */
function greedy(q, epsilon = 0) {
  const best = Math.max(...Array.from(q));
  const ties = Array.from(q).filter((value) => value === best).length;
  return Float64Array.from(q, (value) =>
    epsilon / q.length + (value === best ? (1 - epsilon) / ties : 0));
}

/** The mean of values under a policy. @param {ArrayLike<number>} pi @param {ArrayLike<number>} q */
const expected = (pi, q) => Array.from(q).reduce((sum, value, a) => sum + pi[a] * value, 0);

/** A grid that is sampled: the agent's only source of experience. */
class World {
  /** @param {Problem} problem @param {() => number} uniform */
  constructor(problem, uniform) {
    this.problem = problem;
    this.uniform = uniform;
    this.at = -1;
    this.steps = 0;
  }

  reset() {
    const {starts} = this.problem;
    this.at = starts[draw(starts.map(() => 1 / starts.length), this.uniform)];
    return this.at;
  }

  /** @param {number} s @param {number} a
   * @returns {[next: number, reward: number, done: boolean]} */
  step(s, a) {
    const branches = this.problem.moves[s][a];
    const [, next, reward] = branches[draw(branches.map(([p]) => p), this.uniform)];
    this.at = next;
    this.steps += 1;
    return [next, reward, this.problem.over[next]];
  }
}

/** The cells that may follow. @param {Problem} problem @param {number} s @returns {Entry[]} */
const following = ({moves}, s) =>
  [...new Set(moves[s].flat().map(([, s2]) => s2))].map((s2) => [s2, -1]);

/** @param {number} s @returns {Entry[]} */
const allOf = (s) => [0, 1, 2, 3].map((a) => [s, a]);

/** @type {Learn} */
function* valueIteration({problem}, {V, Q}) {
  const {states} = problem;
  for (let delta = Infinity; delta > THETA;) {
    const old = V.slice();
    delta = 0;
    for (const s of states) {
      Q[s].set(lookahead(problem, s, old));
      V[s] = Math.max(...Q[s]);
      delta = Math.max(delta, Math.abs(V[s] - old[s]));
      yield {write: [s, -1], reads: following(problem, s), unit: s === states.at(-1)};
    }
  }
}

/** @type {Learn} */
function* policyIteration({problem}, {V, pi}) {
  const {states} = problem;
  for (let stable = false; !stable;) {
    V.fill(0);
    for (let delta = Infinity; delta > THETA;) {
      const old = V.slice();
      delta = 0;
      for (const s of states) {
        V[s] = expected(pi[s], lookahead(problem, s, old));
        delta = Math.max(delta, Math.abs(V[s] - old[s]));
        yield {write: [s, -1], reads: following(problem, s), unit: s === states.at(-1)};
      }
    }
    stable = true;
    for (const s of states) {
      const Q = lookahead(problem, s, V);
      if (Math.max(...Q) <= expected(pi[s], Q) + TIE) continue;
      pi[s].set(greedy(Q));
      stable = false;
      yield {write: [s, -1], reads: following(problem, s), improved: true};
    }
  }
}

/** @type {Learn} */
function* tdLambda(world, {V, pi}, p) {
  const {states, gamma} = world.problem;
  for (;;) {
    let [s, done] = [world.reset(), false];
    const z = V.map(() => 0);
    while (!done) {
      const [s2, r, ended] = world.step(s, draw(pi[s], world.uniform));
      for (const i of states) z[i] *= gamma * p.lambda;
      z[s] += 1;
      const change = p.alpha * (r + gamma * V[s2] - V[s]);
      for (const i of states) V[i] += change * z[i];
      yield {write: [s, -1], reads: [[s2, -1]], unit: ended};
      [s, done] = [s2, ended];
    }
  }
}

/** @type {Learn} */
function* sarsaLambda(world, {Q}, p) {
  const {states, gamma} = world.problem;
  const choose = (/** @type {number} */ s) => draw(greedy(Q[s], p.epsilon), world.uniform);
  for (;;) {
    let [s, done] = [world.reset(), false];
    let a = choose(s);
    const z = Q.map((own) => own.map(() => 0));
    while (!done) {
      const [s2, r, ended] = world.step(s, a);
      const a2 = choose(s2);
      for (const i of states) z[i].forEach((trace, b) => z[i][b] = trace * gamma * p.lambda);
      z[s][a] += 1;
      const change = p.alpha * (r + gamma * Q[s2][a2] - Q[s][a]);
      for (const i of states) z[i].forEach((trace, b) => Q[i][b] += change * trace);
      yield {write: [s, a], reads: [[s2, a2]], unit: ended};
      [s, a, done] = [s2, a2, ended];
    }
  }
}

/** @type {Learn} */
function* nStepSarsa(world, {Q}, p) {
  const {gamma} = world.problem;
  const choose = (/** @type {number} */ s) => draw(greedy(Q[s], p.epsilon), world.uniform);
  for (;;) {
    const {n} = p;
    const S = [world.reset()];
    const A = [choose(S[0])];
    const R = [0];
    let T = Infinity;
    for (let t = 0; t - n + 1 < T; t++) {
      if (t < T) {
        const [next, reward, ended] = world.step(S[t], A[t]);
        S.push(next);
        R.push(reward);
        A.push(choose(next));
        if (ended) T = t + 1;
      }
      const tau = t - n + 1;
      if (tau < 0) continue;
      const end = Math.min(tau + n, T);
      let G = 0;
      for (let k = tau + 1; k <= end; k++) G += gamma ** (k - tau - 1) * R[k];
      G += gamma ** (end - tau) * Q[S[end]][A[end]];
      const [s, a] = [S[tau], A[tau]];
      Q[s][a] += p.alpha * (G - Q[s][a]);
      const path = /** @type {Entry[]} */ (S.map((cell, k) => [cell, A[k]]));
      yield {write: [s, a], reads: path.slice(tau + 1, end + 1), unit: tau === T - 1};
    }
  }
}

/** Q-learning, which with n above 0 learns from remembered steps, too: Dyna-Q. Expected Sarsa differs
 * in the value of the next cell. @param {typeof expected} valueOf @returns {Learn} */
const learnQ = (valueOf) => function* (world, {Q}, p) {
  const {gamma} = world.problem;
  /** @type {Map<number, [number, number, number, number]>} */
  const model = new Map();
  /** @param {number} s @param {number} a @param {number} r @param {number} s2 */
  const learn = (s, a, r, s2) => {
    const next = valueOf(greedy(Q[s2], p.epsilon), Q[s2]);
    Q[s][a] += p.alpha * (r + gamma * next - Q[s][a]);
    return /** @type {Backup} */ ({write: [s, a], reads: allOf(s2)});
  };
  for (;;) {
    let [s, done] = [world.reset(), false];
    while (!done) {
      const a = draw(greedy(Q[s], p.epsilon), world.uniform);
      const [s2, r, ended] = world.step(s, a);
      const {n} = p;
      yield {...learn(s, a, r, s2), unit: ended && !n};
      if (n) model.set(4 * s + a, [s, a, r, s2]);
      const seen = n ? [...model.values()] : [];
      for (let k = 1; k <= n; k++) {
        const remembered = seen[Math.floor(world.uniform() * seen.length)];
        yield {...learn(...remembered), unit: ended && k === n};
      }
      [s, done] = [s2, ended];
    }
  }
};

const largest = (/** @type {any} */ _, /** @type {ArrayLike<number>} */ q) => Math.max(...Array.from(q));

/** @type {Record<string, Method>} */
const METHODS = {
  value_iteration: {name: "Value iteration", unit: "sweep", shows: "V", uses: [], run: valueIteration},
  policy_iteration: {name: "Policy iteration", unit: "sweep", shows: "V", uses: [], improves: true,
    run: policyIteration},
  td: {name: "TD(0)", unit: "episode", shows: "V", uses: ["alpha"], fixed: {lambda: 0}, given: true,
    run: tdLambda},
  td_lambda: {name: "TD(λ)", unit: "episode", shows: "V", uses: ["alpha", "lambda"], given: true,
    run: tdLambda},
  sarsa: {name: "Sarsa", unit: "episode", shows: "Q", uses: ["alpha", "epsilon"], fixed: {lambda: 0},
    run: sarsaLambda},
  sarsa_lambda: {name: "Sarsa(λ)", unit: "episode", shows: "Q", uses: ["alpha", "epsilon", "lambda"],
    run: sarsaLambda},
  n_step_sarsa: {name: "n-step Sarsa", unit: "episode", shows: "Q", uses: ["alpha", "epsilon", "n"],
    run: nStepSarsa},
  expected_sarsa: {name: "Expected Sarsa", unit: "episode", shows: "Q", uses: ["alpha", "epsilon"],
    fixed: {n: 0}, run: learnQ(expected)},
  q_learning: {name: "Q-learning", unit: "episode", shows: "Q", uses: ["alpha", "epsilon"],
    fixed: {n: 0}, run: learnQ(largest)},
  dyna_q: {name: "Dyna-Q", unit: "episode", shows: "Q", uses: ["alpha", "epsilon", "n"],
    run: learnQ(largest)},
};

/**
 * A run of an algorithm on a grid, with its exact distances from the optimum.
 *
 * The RMS error is that of V, or of the largest Q, over all cells that are not an end: from the
 * optimum, or from the values of the policy that is given. The gap is the optimal value at the start
 * less that of the greedy policy.
 */
class Run {
  /** @param {Problem} problem @param {string} name a key of METHODS @param {Settings} settings
   * @param {Evaluated | null} best the optimum @param {() => number} uniform */
  constructor(problem, name, settings, best, uniform) {
    this.problem = problem;
    this.method = METHODS[name];
    this.world = new World(problem, uniform);
    const table = (/** @type {number} */ entry) =>
      problem.over.map(() => Float64Array.of(entry, entry, entry, entry));
    this.table = {V: new Float64Array(problem.over.length), Q: table(0), pi: table(1 / 4)};
    this.best = best;
    this.exact = this.method.given ? evaluate(problem, this.table.pi) : best;
    this.updates = 0;
    this.units = 0;
    this.ended = false;
    /** @type {Backup | null} */
    this.backup = null;
    /** @type {{updates: number, steps: number, gap: number, rms: number}[]} */
    this.course = [];
    this.backups = this.method.run(this.world, this.table, Object.assign(settings, this.method.fixed));
  }

  /** Make one update; at the end of a planning algorithm, none. */
  update() {
    const {value, done} = this.backups.next();
    this.ended = Boolean(done);
    if (done) return;
    this.backup = value;
    this.updates += 1;
    this.units += Number(Boolean(value.unit));
  }

  /** The estimated value of a cell. @param {number} s */
  value(s) {
    return this.method.shows === "V" ? this.table.V[s] : Math.max(...this.table.Q[s]);
  }

  /** The policy in a cell that the estimates stand for: greedy, or the one improved or given.
   * @param {number} s */
  policy(s) {
    const {improves, given} = this.method;
    return improves || given ? this.table.pi[s] : greedy(this.table.Q[s]);
  }

  /** Measure the estimates exactly, and keep the numbers for the curves. */
  measure() {
    const {states, over} = this.problem;
    const exact = this.exact?.values;
    const squares = states.map((s) => exact ? (this.value(s) - exact[s]) ** 2 : NaN);
    const rms = Math.sqrt(squares.reduce((sum, one) => sum + one, 0) / squares.length);
    const gap = this.best && !this.method.given
      ? this.best.start - evaluate(this.problem, over.map((_, s) => this.policy(s))).start : NaN;
    const point = {updates: this.updates, steps: this.world.steps, gap: Math.max(gap, 0), rms};
    if (this.course.at(-1)?.updates !== this.updates) this.course.push(point);
    if (this.course.length > MOST_POINTS) this.course = this.course.filter((_, i) => i % 2 === 0);
    return point;
  }
}
