// The grid: its cells and moves, and its two written forms, a URL's fragment and Python.

/**
 * @typedef {object} Grid
 * @property {string[]} map a character for each cell: "." open, "#" wall, S start, G goal, H pit, C cliff
 * @property {Record<string, number>} rewards of cells that have one of their own, by "row,column"
 * @property {number} step the reward of all other cells
 * @property {number[]} wind of each column, in cells upward
 * @property {number} slip the probability of going to a side, in sixtieths
 * @property {number} gamma the discount
 *
 * @typedef {[probability: number, cell: number, reward: number]} Branch
 *
 * @typedef {object} Problem A grid as the solver and the learners know it; cells have numbers.
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

/** The row and the column of a cell. @param {Grid} grid @param {number} cell */
const placeOf = ({map}, cell) => [Math.floor(cell / map[0].length), cell % map[0].length];

/** @param {Grid} grid @param {number} cell */
const keyOf = (grid, cell) => placeOf(grid, cell).join(",");

/** @param {Grid} grid @param {number} cell */
const kindOf = ({map}, cell) => map[Math.floor(cell / map[0].length)][cell % map[0].length];

/** The next cell, or the same one if a wall or the edge is in the way.
 * @param {Grid} grid @param {number} cell @param {number} down @param {number} right */
function slide(grid, cell, down, right) {
  const [row, column] = placeOf(grid, cell);
  const open = (grid.map[row + down]?.[column + right] ?? "#") !== "#";
  return open ? cell + down * grid.map[0].length + right : cell;
}

/** The cell in which a move ends; the wind of the column that is left counts.
 * @param {Grid} grid @param {number} cell @param {number} direction */
function moved(grid, cell, direction) {
  const [straight, right] = STEPS[direction];
  const down = straight - grid.wind[cell % grid.map[0].length];
  let at = slide(grid, cell, 0, right);
  for (let n = 0; n < Math.abs(down); n++) at = slide(grid, at, Math.sign(down), 0);
  return at;
}

/** @param {Grid} grid @returns {Problem} */
function problemOf(grid) {
  const kinds = [...grid.map.join("")];
  const of = (/** @type {string} */ kind) => [...kinds.keys()].filter((s) => kinds[s] === kind);
  const starts = of("S").length ? of("S") : of(".");
  const over = kinds.map((kind) => "GH".includes(kind));
  const slip = grid.slip / SLIPS;
  /** @type {Branch[][][]} */
  const moves = kinds.map(() => []);
  const reached = new Set(starts);
  for (const cell of reached) {
    for (let action = 0; action < 4 && !over[cell]; action++) {
      /** @type {Branch[]} */
      const branches = moves[cell][action] = [];
      for (const [turn, p] of [[0, 1 - slip], [1, slip / 2], [3, slip / 2]]) {
        if (!p) continue;
        const after = moved(grid, cell, (action + turn) % 4);
        const reward = grid.rewards[keyOf(grid, after)] ?? grid.step;
        const cells = kinds[after] === "C" ? starts : [after];
        for (const next of cells) {
          const same = branches.find((one) => one[1] === next && one[2] === reward);
          if (same) same[0] += p / cells.length;
          else branches.push([p / cells.length, next, reward]);
          reached.add(next);
        }
      }
    }
  }
  const states = [...kinds.keys()].filter((cell) => reached.has(cell) && !over[cell]);
  return {starts, states, over, moves, gamma: grid.gamma};
}

/** The grid, if it is allowed. @param {Grid} grid */
function checked(grid) {
  const {map, rewards, step, wind, slip, gamma} = grid;
  const columns = map[0]?.length ?? 0;
  const strange = [...map.join("")].find((kind) => !KINDS.includes(kind));
  const whole = (/** @type {number} */ x, /** @type {number} */ most) =>
    Number.isInteger(x) && x >= 0 && x <= most;
  const isReward = (/** @type {number} */ x) => Number.isFinite(x) && Math.abs(x) <= 1e6;
  const isCell = (/** @type {string} */ key) => {
    const [row, column] = key.split(",");
    return Boolean(map[Number(row)]?.[Number(column)]);
  };
  /** @type {[boolean, string][]} */
  const demands = [
    [map.length <= MOST_ROWS && columns >= 1 && columns <= MOST_COLUMNS,
      `A grid has 1 to ${MOST_ROWS} rows and 1 to ${MOST_COLUMNS} columns.`],
    [map.every((row) => row.length === columns), "All rows of the map must be equally long."],
    [!strange, `The map has “${strange}”; a cell is one of ${[...KINDS].join(" ")}`],
    [/[S.]/.test(map.join("")), "The map needs a start, S, or an open cell."],
    [[step, ...Object.values(rewards)].every(isReward), "A reward is a number up to a million."],
    [Object.keys(rewards).every(isCell), "A reward is for a cell that is not on the map."],
    [wind.length === columns && wind.every((x) => whole(x, STRONGEST)),
      `Each column has a wind of 0 to ${STRONGEST} cells.`],
    [whole(slip, SLIPS), "The probability to slip is a number of sixtieths from 0 to 60."],
    [gamma > 0 && gamma <= 1, "The discount γ is above 0 and at most 1."],
  ];
  for (const [met, message] of demands) if (!met) throw new Error(message);
  return grid;
}

/** @param {Grid} grid @returns {Record<string, string>} */
const fragmentOf = ({map, rewards, step, wind, slip, gamma}) => ({
  map: map.join("/"), rewards: Object.entries(rewards).join(";"), wind: wind.join(","),
  step: String(step), slip: String(slip), gamma: String(gamma),
});

/** The grid of a URL's fragment; null if it has none. @param {URLSearchParams} asked */
function gridOf(asked) {
  if (!asked.get("map")) return null;
  const map = (asked.get("map") ?? "").split("/");
  const listed = (/** @type {string} */ name, /** @type {string} */ mark) =>
    (asked.get(name) || null)?.split(mark) ?? [];
  const wind = listed("wind", ",").map(Number);
  return checked({
    map, wind: wind.length ? wind : [...map[0]].map(() => 0),
    rewards: Object.fromEntries(listed("rewards", ";").map((one) => {
      const [row, column, reward] = one.split(",").map(Number);
      return [`${row},${column}`, reward];
    })),
    step: Number(asked.get("step") ?? 0), slip: Number(asked.get("slip") ?? 0),
    gamma: Number(asked.get("gamma") ?? 1),
  });
}

const GRID_IN_PYTHON = /(# The grid[^\n]*\n)[^]*?(# The rules\.)/;

/** The grid as a Python file that defines it as a game.
 * @param {Grid} grid @param {string} rules the file for another grid */
function pythonOf(grid, rules) {
  const rewards = Object.entries(grid.rewards)
    .map(([key, reward]) => `    (${key.replace(",", ", ")}): ${reward},\n`).join("");
  const lines = [
    "MAP = (", ...grid.map.map((row) => `    "${row}",`), ")",
    `REWARDS: dict[tuple[int, int], float] = {${rewards && `\n${rewards}`}}`,
    `STEP = ${grid.step}`, `WIND = (${grid.wind.join(", ")},)`,
    `SLIP = Fraction(${grid.slip}, ${SLIPS})`, `DISCOUNT = ${grid.gamma}`,
  ];
  return rules.replace(GRID_IN_PYTHON, (_, begin, end) => `${begin}${lines.join("\n")}\n${end}`);
}

/** Read the grid of such a file back, without running it. @param {string} text */
function gridOfPython(text) {
  const part = GRID_IN_PYTHON.exec(text)?.[0];
  if (!part) throw new Error("The file has no part from “# The grid” to “# The rules.”");
  const after = (/** @type {string} */ name, /** @type {string} */ pattern) => {
    const found = new RegExp(`^${name}[^=\n]*= ${pattern}`, "m").exec(part);
    if (!found) throw new Error(`${name} is missing, or cannot be read.`);
    return found;
  };
  const number = "([-+.\\de]+)";
  const rewards = after("REWARDS", "\\{([^}]*)\\}")[1].matchAll(/\((\d+), *(\d+)\): *([-+.\de]+)/g);
  const [, slips, of] = after("SLIP", "Fraction\\((\\d+), *(\\d+)\\)").map(Number);
  return checked({
    map: [...after("MAP", "\\(([^)]*)\\)")[1].matchAll(/"([^"]*)"/g)].map((one) => one[1]),
    rewards: Object.fromEntries([...rewards].map(([, row, column, reward]) =>
      [`${row},${column}`, Number(reward)])),
    wind: after("WIND", "\\(([^)]*)\\)")[1].split(",").filter((one) => one.trim()).map(Number),
    step: Number(after("STEP", number)[1]), slip: slips * SLIPS / of,
    gamma: Number(after("DISCOUNT", number)[1]),
  });
}
