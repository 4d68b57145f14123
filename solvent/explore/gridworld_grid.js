// The grid: its cells and moves, the presets, and its two written forms, a URL's fragment and Python.

/**
 * @typedef {object} Grid
 * @property {string[]} map one character a cell: "." open, "#" wall, S start, G goal, H pit, C cliff
 * @property {Record<string, number>} rewards of cells that have one of their own, by "row,column"
 * @property {number} step the reward of all other cells
 * @property {number[]} wind of each column, in cells upward
 * @property {number} slip the probability of going to a side, in sixtieths
 * @property {number} gamma the discount
 *
 * @typedef {[probability: number, cell: number, reward: number]} Branch
 *
 * @typedef {object} Problem A grid as the solver and the learners know it; cells have numbers.
 * @property {number} size the number of cells
 * @property {number[]} starts the cells in which episodes begin, equally probable
 * @property {number[]} states the cells that play can reach and go on from
 * @property {boolean[]} over whether a cell ends the episode
 * @property {Branch[][][]} moves what may follow, by cell and action
 * @property {number} gamma the discount
 */

const KINDS = ".#SGHC";
const STEPS = [[-1, 0], [0, 1], [1, 0], [0, -1]];
const ARROWS = "↑→↓←";
const SLIPS = 60;
const MOST_ROWS = 12;
const MOST_COLUMNS = 16;
const STRONGEST = 3;

/** @type {Record<string, Grid>} */
const PRESETS = {
  "Frozen lake": {
    map: ["S...", ".H.H", "...H", "H..G"],
    rewards: {"3,3": 1}, step: 0, wind: [0, 0, 0, 0], slip: 40, gamma: 1,
  },
  "Cliff": {
    map: ["............", "............", "............", "SCCCCCCCCCCG"],
    rewards: Object.fromEntries(Array.from({length: 10}, (_, n) => [`3,${n + 1}`, -100])),
    step: -1, wind: Array(12).fill(0), slip: 0, gamma: 1,
  },
  "Windy gridworld": {
    map: ["..........", "..........", "..........", "S......G..",
      "..........", "..........", ".........."],
    rewards: {}, step: -1, wind: [0, 0, 0, 1, 1, 1, 2, 2, 1, 0], slip: 0, gamma: 1,
  },
  "Dyna maze": {
    map: [".......#G", "..#....#.", "S.#....#.", "..#......", ".....#...", "........."],
    rewards: {"0,8": 1}, step: 0, wind: Array(9).fill(0), slip: 0, gamma: 0.95,
  },
  "Empty": {
    map: ["........", "........", "........", "S......G", "........", "........"],
    rewards: {"3,7": 1}, step: 0, wind: Array(8).fill(0), slip: 0, gamma: 0.9,
  },
};

/** @param {Grid} grid @param {number} cell */
const kindOf = (grid, cell) => {
  const columns = grid.map[0].length;
  return grid.map[Math.floor(cell / columns)][cell % columns];
};

/** @param {Grid} grid @param {number} cell */
const keyOf = (grid, cell) => {
  const columns = grid.map[0].length;
  return `${Math.floor(cell / columns)},${cell % columns}`;
};

/**
 * The next cell, or the same one if a wall or the edge is in the way.
 * @param {Grid} grid @param {number} cell @param {number} down @param {number} right
 */
function slide(grid, cell, down, right) {
  const columns = grid.map[0].length;
  const row = Math.floor(cell / columns) + down;
  const column = (cell % columns) + right;
  return (grid.map[row]?.[column] ?? "#") === "#" ? cell : row * columns + column;
}

/**
 * The cell in which a move ends; the wind of the column that is left counts.
 * @param {Grid} grid @param {number} cell @param {number} direction
 */
function moved(grid, cell, direction) {
  const [straight, right] = STEPS[direction];
  const down = straight - grid.wind[cell % grid.map[0].length];
  let at = slide(grid, cell, 0, right);
  for (let n = 0; n < Math.abs(down); n++) at = slide(grid, at, Math.sign(down), 0);
  return at;
}

/** @param {Grid} grid @returns {Problem} */
function problemOf(grid) {
  const size = grid.map.length * grid.map[0].length;
  const cells = [...Array(size).keys()];
  const of = (/** @type {string} */ kind) => cells.filter((cell) => kindOf(grid, cell) === kind);
  const starts = of("S").length ? of("S") : of(".");
  const over = cells.map((cell) => "GH".includes(kindOf(grid, cell)));
  const slip = grid.slip / SLIPS;
  /** @type {Branch[][][]} */
  const moves = cells.map(() => []);
  const reached = new Set(starts);
  for (const cell of reached) {
    if (over[cell]) continue;
    for (let action = 0; action < 4; action++) {
      moves[cell][action] = [];
      for (const [turn, p] of [[0, 1 - slip], [1, slip / 2], [3, slip / 2]]) {
        if (!p) continue;
        const after = moved(grid, cell, (action + turn) % 4);
        const reward = grid.rewards[keyOf(grid, after)] ?? grid.step;
        for (const next of kindOf(grid, after) === "C" ? starts : [after]) {
          const share = kindOf(grid, after) === "C" ? p / starts.length : p;
          moves[cell][action].push([share, next, reward]);
          reached.add(next);
        }
      }
    }
  }
  const states = cells.filter((cell) => reached.has(cell) && !over[cell]);
  return {size, starts, states, over, moves, gamma: grid.gamma};
}

/**
 * The grid, if it is allowed.
 * @param {Grid} grid
 * @returns {Grid}
 */
function checked(grid) {
  const {map, rewards, step, wind, slip, gamma} = grid;
  /** @param {boolean} ok @param {string} message */
  const demand = (ok, message) => {
    if (!ok) throw new Error(message);
  };
  const columns = map.length ? map[0].length : 0;
  demand(map.length >= 1 && map.length <= MOST_ROWS && columns >= 1 && columns <= MOST_COLUMNS,
    `A grid has 1 to ${MOST_ROWS} rows and 1 to ${MOST_COLUMNS} columns.`);
  demand(map.every((row) => row.length === columns), "All rows of the map must be equally long.");
  const strange = [...map.join("")].find((kind) => !KINDS.includes(kind));
  demand(!strange, `The map has “${strange}”; a cell is one of ${[...KINDS].join(" ")}`);
  demand(/[S.]/.test(map.join("")), "The map needs a start, S, or an open cell.");
  const inRange = (/** @type {number} */ x) => Number.isFinite(x) && Math.abs(x) <= 1e6;
  demand([step, ...Object.values(rewards)].every(inRange), "A reward is a number up to a million.");
  for (const key of Object.keys(rewards)) {
    const [row, column] = key.split(",").map(Number);
    demand(map[row]?.[column] !== undefined, `There is no cell ${key} to have a reward.`);
  }
  const whole = (/** @type {number} */ x, /** @type {number} */ most) =>
    Number.isInteger(x) && x >= 0 && x <= most;
  demand(wind.length === columns && wind.every((x) => whole(x, STRONGEST)),
    `Each column has a wind of 0 to ${STRONGEST} cells.`);
  demand(whole(slip, SLIPS), "The probability to slip is a number of sixtieths from 0 to 60.");
  demand(gamma > 0 && gamma <= 1, "The discount γ is above 0 and at most 1.");
  return grid;
}

/** @param {Grid} grid @returns {Record<string, string>} */
function fragmentOf(grid) {
  return {
    map: grid.map.join("/"),
    rewards: Object.entries(grid.rewards).map(([key, reward]) => `${key},${reward}`).join(";"),
    step: String(grid.step),
    wind: grid.wind.join(","),
    slip: String(grid.slip),
    gamma: String(grid.gamma),
  };
}

/**
 * The grid of a URL's fragment; null if it has none.
 * @param {URLSearchParams} asked
 */
function gridOf(asked) {
  if (!asked.get("map")) return null;
  const map = (asked.get("map") ?? "").split("/");
  const rewards = (asked.get("rewards") ?? "").split(";").filter(Boolean).map((one) => {
    const [row, column, reward] = one.split(",").map(Number);
    return /** @type {const} */ ([`${row},${column}`, reward]);
  });
  const wind = asked.get("wind") ? (asked.get("wind") ?? "").split(",").map(Number)
    : [...map[0]].map(() => 0);
  return checked({
    map, rewards: Object.fromEntries(rewards), step: Number(asked.get("step") ?? 0), wind,
    slip: Number(asked.get("slip") ?? 0), gamma: Number(asked.get("gamma") ?? 1),
  });
}

const GRID_IN_PYTHON = /(# The grid[^\n]*\n)[^]*?(# The rules\.)/;

/**
 * The grid as a Python file that defines it as a game.
 * @param {Grid} grid @param {string} rules the file for another grid
 */
function pythonOf(grid, rules) {
  const rewards = Object.entries(grid.rewards)
    .map(([key, reward]) => `    (${key.replace(",", ", ")}): ${reward},\n`).join("");
  const lines = [
    "MAP = (", ...grid.map.map((row) => `    "${row}",`), ")",
    `REWARDS: dict[tuple[int, int], float] = {${rewards && `\n${rewards}`}}`,
    `STEP = ${grid.step}`,
    `WIND = (${grid.wind.join(", ")},)`,
    `SLIP = Fraction(${grid.slip}, ${SLIPS})`,
    `DISCOUNT = ${grid.gamma}`,
  ];
  return rules.replace(GRID_IN_PYTHON, (_, begin, end) => `${begin}${lines.join("\n")}\n${end}`);
}

/**
 * Read the grid of such a file back, without running it.
 * @param {string} text
 */
function gridOfPython(text) {
  const part = GRID_IN_PYTHON.exec(text)?.[0];
  if (!part) throw new Error("The file has no part from “# The grid” to “# The rules.”");
  const after = (/** @type {RegExp} */ pattern, /** @type {string} */ name) => {
    const found = pattern.exec(part);
    if (!found) throw new Error(`${name} is missing, or cannot be read.`);
    return found;
  };
  const map = [...after(/^MAP = \(([^)]*)\)/m, "MAP")[1].matchAll(/"([^"]*)"/g)].map((one) => one[1]);
  const own = after(/^REWARDS[^=]*= \{([^}]*)\}/m, "REWARDS")[1];
  const rewards = [...own.matchAll(/\((\d+), *(\d+)\): *([-+.\de]+)/g)]
    .map(([, row, column, reward]) => [`${row},${column}`, Number(reward)]);
  const wind = after(/^WIND = \(([^)]*)\)/m, "WIND")[1].split(",").filter((one) => one.trim());
  const slip = after(/^SLIP = Fraction\((\d+), *(\d+)\)/m, "SLIP");
  return checked({
    map, rewards: Object.fromEntries(rewards), wind: wind.map(Number),
    step: Number(after(/^STEP = ([-+.\de]+)/m, "STEP")[1]),
    slip: Number(slip[1]) * SLIPS / Number(slip[2]),
    gamma: Number(after(/^DISCOUNT = ([.\de]+)/m, "DISCOUNT")[1]),
  });
}
