// The algorithms of the book (Sutton and Barto 2018), each as a generator that stops after every
// update and says which entries it has read and written. They are those of solvent.tabular: given
// the same random numbers, both make the same tables.

/**
 * @typedef {[cell: number, action: number]} Entry of a table; action −1 is the cell's V
 * @typedef {{write: Entry, reads: Entry[], unit?: boolean, planned?: boolean}} Backup
 * @typedef {{alpha: number, epsilon: number, lambda: number, n: number}} Settings
 *
 * @typedef {object} Table The estimates of an algorithm, by cell; those that it has not are absent.
 * @property {Float64Array} [V]
 * @property {Float64Array[]} [Q]
 * @property {Float64Array[]} [pi] a policy that is given or improved
 *
 * @typedef {object} Algorithm
 * @property {string} name
 * @property {string} unit "sweep" or "episode"
 * @property {(keyof Settings)[]} uses its settings
 * @property {Partial<Settings>} [fixed] the settings that make it a case of a more general one
 * @property {boolean} [predicts] whether it estimates the values of a given policy
 * @property {(world: World, table: Table, p: Settings) => Generator<Backup>} run
 */

const TIE = 1e-9;
const THETA = 1e-10;
const MOST_POINTS = 2000;

/** A generator of random numbers in [0, 1) by T. Ettinger, "mulberry32". @param {number} seed */
function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/**
 * Draw an index by its probability, with one random number.
 * @param {ArrayLike<number>} weights @param {() => number} uniform
 */
function draw(weights, uniform) {
  const sums = Array.from(weights);
  for (let i = 1; i < sums.length; i++) sums[i] += sums[i - 1];
  const number = uniform() * sums[sums.length - 1];
  return sums.findIndex((sum) => sum > number);
}

/**
 * The ε-greedy policy in a cell; equally good actions are equally probable.
 * @param {ArrayLike<number>} q @param {number} [epsilon]
 */
function greedy(q, epsilon = 0) {
  const actions = Array.from(q);
  const best = Math.max(...actions);
  const ties = actions.filter((value) => value === best).length;
  return Float64Array.from(actions, (value) =>
    epsilon / actions.length + (value === best ? (1 - epsilon) / ties : 0));
}

/** A grid that is sampled: the agent's only source of experience. */
class World {
  /** @param {Problem} problem @param {() => number} uniform */
  constructor(problem, uniform) {
    this.problem = problem;
    this.uniform = uniform;
    this.at = -1;
    this.steps = 0;
    this.episodes = 0;
  }

  reset() {
    const {starts} = this.problem;
    this.at = starts[draw(starts.map(() => 1), this.uniform)];
    return this.at;
  }

  /**
   * @param {number} s @param {number} a
   * @returns {[next: number, reward: number, done: boolean]}
   */
  step(s, a) {
    const branches = this.problem.moves[s][a];
    const [, next, reward] = branches[draw(branches.map(([p]) => p), this.uniform)];
    const done = this.problem.over[next];
    this.at = next;
    this.steps += 1;
    this.episodes += Number(done);
    return [next, reward, done];
  }
}

/** @param {Problem} problem */
const zeros = ({size}) => new Float64Array(size);

/** @param {Problem} problem */
const actionZeros = ({size}) => Array.from({length: size}, () => new Float64Array(4));

/** @param {Problem} problem @param {number} s @returns {Entry[]} */
const after = ({moves}, s) =>
  [...new Set(moves[s].flatMap((branches) => branches.map(([, s2]) => s2)))].map((s2) => [s2, -1]);

/** @param {number} s @returns {Entry[]} */
const allOf = (s) => [0, 1, 2, 3].map((a) => [s, a]);

/** @param {World} world @param {Table} table @returns {Generator<Backup>} */
function* valueIteration({problem}, table) {
  const {states} = problem;
  const V = table.V = zeros(problem);
  const Q = table.Q = actionZeros(problem);
  for (let delta = Infinity; delta > THETA;) {
    const old = V.slice();
    delta = 0;
    for (const s of states) {
      Q[s].set(lookahead(problem, s, old));
      V[s] = Math.max(...Q[s]);
      delta = Math.max(delta, Math.abs(V[s] - old[s]));
      yield {write: [s, -1], reads: after(problem, s), unit: s === states[states.length - 1]};
    }
  }
}

/** @param {World} world @param {Table} table @returns {Generator<Backup>} */
function* policyIteration({problem}, table) {
  const {states} = problem;
  const last = states[states.length - 1];
  const pi = table.pi = actionZeros(problem).map((own) => own.fill(1 / 4));
  for (let stable = false; !stable;) {
    const V = table.V = zeros(problem);
    for (let delta = Infinity; delta > THETA;) {
      const old = V.slice();
      delta = 0;
      for (const s of states) {
        V[s] = lookahead(problem, s, old).reduce((sum, q, a) => sum + pi[s][a] * q, 0);
        delta = Math.max(delta, Math.abs(V[s] - old[s]));
        yield {write: [s, -1], reads: after(problem, s), unit: s === last};
      }
    }
    stable = true;
    for (const s of states) {
      const Q = lookahead(problem, s, V);
      if (Math.max(...Q) > Q.reduce((sum, q, a) => sum + pi[s][a] * q, 0) + TIE) {
        pi[s].set(greedy(Q));
        stable = false;
        yield {write: [s, -1], reads: after(problem, s), planned: true};
      }
    }
  }
}

/** @param {World} world @param {Table} table @param {Settings} p @returns {Generator<Backup>} */
function* tdLambda(world, table, p) {
  const {problem} = world;
  const {gamma} = problem;
  const V = table.V = zeros(problem);
  const pi = /** @type {Float64Array[]} */ (table.pi);
  for (;;) {
    let [s, done] = [world.reset(), false];
    const z = zeros(problem);
    while (!done) {
      const [s2, r, ended] = world.step(s, draw(pi[s], world.uniform));
      for (const i of problem.states) z[i] *= gamma * p.lambda;
      z[s] += 1;
      const change = p.alpha * (r + gamma * V[s2] - V[s]);
      for (const i of problem.states) V[i] += change * z[i];
      yield {write: [s, -1], reads: [[s2, -1]], unit: ended};
      [s, done] = [s2, ended];
    }
  }
}

/** @param {World} world @param {Table} table @param {Settings} p @returns {Generator<Backup>} */
function* sarsaLambda(world, table, p) {
  const {problem} = world;
  const {gamma} = problem;
  const Q = table.Q = actionZeros(problem);
  const choose = (/** @type {number} */ s) => draw(greedy(Q[s], p.epsilon), world.uniform);
  for (;;) {
    let [s, done] = [world.reset(), false];
    let a = choose(s);
    const z = actionZeros(problem);
    while (!done) {
      const [s2, r, ended] = world.step(s, a);
      const a2 = choose(s2);
      for (const i of problem.states) z[i].forEach((trace, b) => z[i][b] = trace * gamma * p.lambda);
      z[s][a] += 1;
      const change = p.alpha * (r + gamma * Q[s2][a2] - Q[s][a]);
      for (const i of problem.states) z[i].forEach((trace, b) => Q[i][b] += change * trace);
      yield {write: [s, a], reads: [[s2, a2]], unit: ended};
      [s, a, done] = [s2, a2, ended];
    }
  }
}

/** @param {World} world @param {Table} table @param {Settings} p @returns {Generator<Backup>} */
function* nStepSarsa(world, table, p) {
  const {problem} = world;
  const {gamma} = problem;
  const Q = table.Q = actionZeros(problem);
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

/**
 * The learners whose target is a mean or a maximum over the next actions.
 * @param {World} world @param {Table} table @param {Settings} p
 * @param {(q: Float64Array) => number} valueOf the value of the next cell
 * @returns {Generator<Backup>}
 */
function* oneStep(world, table, p, valueOf) {
  const {problem} = world;
  const Q = table.Q = actionZeros(problem);
  for (;;) {
    let [s, done] = [world.reset(), false];
    while (!done) {
      const a = draw(greedy(Q[s], p.epsilon), world.uniform);
      const [s2, r, ended] = world.step(s, a);
      Q[s][a] += p.alpha * (r + problem.gamma * valueOf(Q[s2]) - Q[s][a]);
      yield {write: [s, a], reads: allOf(s2), unit: ended};
      [s, done] = [s2, ended];
    }
  }
}

/** @param {World} world @param {Table} table @param {Settings} p @returns {Generator<Backup>} */
function* dynaQ(world, table, p) {
  const {problem} = world;
  const Q = table.Q = actionZeros(problem);
  /** @type {Map<number, [number, number, number, number]>} */
  const model = new Map();
  /** @param {number} s @param {number} a @param {number} r @param {number} s2 */
  const learn = (s, a, r, s2) => {
    Q[s][a] += p.alpha * (r + problem.gamma * Math.max(...Q[s2]) - Q[s][a]);
    return /** @type {Backup} */ ({write: [s, a], reads: allOf(s2)});
  };
  for (;;) {
    let [s, done] = [world.reset(), false];
    while (!done) {
      const a = draw(greedy(Q[s], p.epsilon), world.uniform);
      const [s2, r, ended] = world.step(s, a);
      const {n} = p;
      yield {...learn(s, a, r, s2), unit: ended && !n};
      model.set(4 * s + a, [s, a, r, s2]);
      const seen = [...model.values()];
      for (let k = 1; k <= n; k++) {
        const remembered = seen[Math.floor(world.uniform() * seen.length)];
        yield {...learn(...remembered), planned: true, unit: ended && k === n};
      }
      [s, done] = [s2, ended];
    }
  }
}

/** @type {Record<string, Algorithm>} */
const ALGORITHMS = {
  value_iteration: {name: "Value iteration", unit: "sweep", uses: [], run: valueIteration},
  policy_iteration: {name: "Policy iteration", unit: "sweep", uses: [], run: policyIteration},
  td: {name: "TD(0)", unit: "episode", uses: ["alpha"], fixed: {lambda: 0}, predicts: true,
    run: tdLambda},
  td_lambda: {name: "TD(λ)", unit: "episode", uses: ["alpha", "lambda"], predicts: true,
    run: tdLambda},
  sarsa: {name: "Sarsa", unit: "episode", uses: ["alpha", "epsilon"], fixed: {lambda: 0},
    run: sarsaLambda},
  sarsa_lambda: {name: "Sarsa(λ)", unit: "episode", uses: ["alpha", "epsilon", "lambda"],
    run: sarsaLambda},
  n_step_sarsa: {name: "n-step Sarsa", unit: "episode", uses: ["alpha", "epsilon", "n"],
    run: nStepSarsa},
  expected_sarsa: {name: "Expected Sarsa", unit: "episode", uses: ["alpha", "epsilon"],
    run: (world, table, p) => oneStep(world, table, p, (q) =>
      greedy(q, p.epsilon).reduce((sum, chance, a) => sum + chance * q[a], 0))},
  q_learning: {name: "Q-learning", unit: "episode", uses: ["alpha", "epsilon"],
    run: (world, table, p) => oneStep(world, table, p, (q) => Math.max(...q))},
  dyna_q: {name: "Dyna-Q", unit: "episode", uses: ["alpha", "epsilon", "n"], run: dynaQ},
};

/**
 * A run of an algorithm on a grid, with its exact distances from the optimum.
 *
 * The RMS error is that of V, or of the largest Q, over all cells that are not an end: from the
 * optimum, or from the values of the policy that is given. The gap is the optimal value at the start
 * less that of the greedy policy.
 */
class Run {
  /**
   * @param {Problem} problem @param {string} name a key of ALGORITHMS @param {Settings} settings
   * @param {Evaluated | null} best the optimum @param {() => number} uniform
   */
  constructor(problem, name, settings, best, uniform) {
    this.problem = problem;
    this.algorithm = ALGORITHMS[name];
    this.world = new World(problem, uniform);
    /** @type {Table} */
    this.table = {};
    this.best = best;
    this.exact = best;
    if (this.algorithm.predicts) {
      this.table.pi = actionZeros(problem).map((own) => own.fill(1 / 4));
      this.exact = evaluate(problem, this.table.pi);
    }
    this.updates = 0;
    this.units = 0;
    this.ended = false;
    /** @type {Backup | null} */
    this.backup = null;
    /** @type {{updates: number, steps: number, gap: number, rms: number}[]} */
    this.course = [];
    Object.assign(settings, this.algorithm.fixed);
    this.backups = this.algorithm.run(this.world, this.table, settings);
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
    const {V, Q} = this.table;
    return V ? V[s] : Q ? Math.max(...Q[s]) : 0;
  }

  /**
   * The policy in a cell that the estimates stand for: greedy, or the one improved or given.
   * @param {number} s
   */
  policyIn(s) {
    const {Q, pi} = this.table;
    return pi ? pi[s] : greedy(Q ? Q[s] : [0, 0, 0, 0]);
  }

  /** Measure the estimates exactly, and keep the numbers for the curves. */
  measure() {
    const {states} = this.problem;
    const squares = this.exact
      ? states.map((s) => (this.value(s) - /** @type {Evaluated} */ (this.exact).values[s]) ** 2)
      : [NaN];
    const rms = Math.sqrt(squares.reduce((sum, one) => sum + one, 0) / squares.length);
    const start = this.best && !this.algorithm.predicts
      ? evaluate(this.problem, this.problem.over.map((_, s) => this.policyIn(s))).start : NaN;
    const gap = this.best ? Math.max(this.best.start - start, 0) : NaN;
    const point = {updates: this.updates, steps: this.world.steps, gap, rms};
    if (this.course[this.course.length - 1]?.updates !== this.updates) this.course.push(point);
    if (this.course.length > MOST_POINTS) this.course = this.course.filter((_, i) => i % 2 === 0);
    return point;
  }
}
