// The page: drawing the world, running two algorithms on it, and their pictures.

const UNIT = 60;
const TRIANGLES = ["0,0 60,0 30,30", "60,0 60,60 30,30", "60,60 0,60 30,30", "0,60 0,0 30,30"];
const SQUARE = "1,1 59,1 59,59 1,59";
const PLACES = [[30, 17], [53, 34], [30, 51], [7, 34]];
const ANCHORS = ["middle", "end", "middle", "start"];
const NAMES = Object.fromEntries([...KINDS].map((kind, i) =>
  [kind, ["open", "wall", "start", "goal", "pit", "cliff"][i]]));
/** @type {Record<string, number>} */
const REWARDS_OF_KINDS = {G: 1, H: -1, C: -10};
const SETTINGS = /** @type {const} */ (["alpha", "epsilon", "lambda", "n"]);
const COLOURS = ["var(--up)", "var(--down)"];

/** @type {(selector: string, within?: ParentNode) => any} */
const $ = (selector, within = document) => within.querySelector(selector);
const panels = [$("#panel0"), $("#panel1")];
const defaults = () => ({alpha: 0.1, epsilon: 0.1, lambda: 0.9, n: 5});

/** @type {Record<string, Grid>} */
const PRESETS = JSON.parse($("#presets").textContent);

const page = {
  grid: PRESETS["Frozen lake"],
  problem: problemOf(PRESETS["Frozen lake"]),
  best: /** @type {Evaluated | null} */ (null),
  runs: /** @type {Run[]} */ ([]),
  names: ["value_iteration", "q_learning"],
  settings: [defaults(), defaults()],
  cursor: 0,
  running: false,
};

/** A number for people. @param {number} x @param {number} [digits] */
function written(x, digits = 4) {
  if (Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const small = Math.abs(x) < 1e-3 && x !== 0;
  return (small ? x.toExponential(1) : String(Number(x.toPrecision(digits)))).replace(/-/g, "−");
}

/** A value in a cell. @param {number} x @param {number} digits of one between 1 and 10 */
function inCell(x, digits) {
  if (!Number.isFinite(x)) return written(x);
  const size = Math.abs(x);
  const text = x.toFixed(size >= 99.5 ? 0 : size >= 9.95 ? digits - 1 : size >= 0.995 ? digits : 2);
  return (Number(text) === 0 ? "0" : text).replace("-", "−");
}

const counted = (/** @type {number} */ n, /** @type {string} */ unit) =>
  `${n.toLocaleString("en")} ${unit}${n === 1 ? "" : "s"}`;

// What is drawn of a grid

/** @param {number} x @param {number} y @param {string} text @param {string} [style] */
const label = (x, y, text, style = "") => `<text x="${x}" y="${y}" style="${style}">${text}</text>`;

/** A shape in the colour of a value. @param {string} points @param {number} value
 * @param {number} scale */
const tinted = (points, value, scale) => {
  const share = Number.isFinite(value) ? Math.min(Math.abs(value) / scale, 1) : 0;
  return `<polygon points="${points}" stroke="var(--line)" fill="${COLOURS[Number(value < 0)]}" ` +
    `fill-opacity="${(0.62 * share).toFixed(3)}"/>`;
};

/** The policy of a cell as arrows from a point, or as tips at the edge.
 * @param {ArrayLike<number>} chances @param {number} y @param {boolean} tips */
function arrows(chances, y, tips) {
  const taken = [0, 1, 2, 3].filter((a) => chances[a] > 0);
  if (taken.length === 4) return tips ? "" : `<circle cx="30" cy="${y}" r="2" fill="var(--ink)"/>`;
  const [from, path] = tips ? [30, "M0 -29L4 -25H-4Z"] : [y, "M0 5V-9M-5 -4L0 -9L5 -4"];
  return taken.map((a) => `<path d="${path}" transform="translate(30 ${from}) rotate(${90 * a})" ` +
    `fill="${tips ? "var(--ink)" : "none"}" stroke="var(--ink)" stroke-width="${2 - Number(tips)}"/>`)
    .join("");
}

/** @param {number} cell */
const corner = (cell) => placeOf(page.grid, cell).reverse().map((place) => UNIT * place);

/** The value of a cell by the view, those of its actions if it is split, and its policy.
 * @param {Run} run @param {number} s */
function shownIn(run, s) {
  const [view, exact, split] = [$("#view").value, run.exact?.values, run.method.shows === "Q"];
  const policy = run.policy(s);
  if (view === "error" && exact) return {value: run.value(s) - exact[s], Q: null, policy};
  if (view === "estimate" || !exact) {
    return {value: run.value(s), Q: split ? run.table.Q[s] : null, policy};
  }
  const Q = lookahead(page.problem, s, exact);
  const optimal = greedy(Q.map((q) => Number(q >= Math.max(...Q) - TIE)));
  return {value: exact[s], Q: split ? Q : null, policy: run.method.given ? policy : optimal};
}

/** @param {Run} run @param {number} cell @param {number} scale @param {number} room in pixels */
function drawCell(run, cell, scale, room) {
  const {grid, problem} = page;
  const kind = kindOf(grid, cell);
  const reward = grid.rewards[keyOf(grid, cell)];
  /** @type {Record<string, string>} */
  const fills = {"#": "wall", G: "goal", H: "pit", C: "pit"};
  const parts = [`<polygon points="0,0 60,0 60,60 0,60" fill="var(--${fills[kind] ?? "paper"})" ` +
    'stroke="var(--line)"/>'];
  if (problem.states.includes(cell)) {
    const {value, Q, policy} = shownIn(run, cell);
    if (Q) {
      [...Q].forEach((q, a) => parts.push(tinted(TRIANGLES[a], q, scale)));
      [...Q].forEach((q, a) => room > 42 && parts.push(label(PLACES[a][0], PLACES[a][1], inCell(q, 1),
        `text-anchor:${ANCHORS[a]};font-size:10.5px;font-weight:${policy[a] > 0 ? 700 : 400}`)));
      parts.push(arrows(policy, 30, room > 42));
    } else {
      parts.push(tinted("0,0 60,0 60,60 0,60", value, scale), arrows(policy, room > 34 ? 44 : 30, false),
        room > 34 ? label(30, 26, inCell(value, 2), "font-size:17px") : "");
    }
  } else if (kind !== "#") {
    parts.push(label(30, 37, ".S".includes(kind) ? "–" : kind, "font-size:20px"));
  }
  if (kind === "S") parts.push(label(7, 12, "S", "font-size:12px;font-weight:700"));
  if (reward !== undefined && kind !== "#") {
    parts.push(label(57, kind === "." ? 12 : 55, (reward > 0 ? "+" : "") + written(reward),
      "font-size:12px;font-weight:700;text-anchor:end"));
  }
  return `<g transform="translate(${corner(cell)})">${parts.join("")}</g>`;
}

/** The entries that the last update has read and written, and the agent. @param {Run} run */
function drawBackup({backup, world}) {
  /** @param {Entry} entry @param {string} style */
  const framed = ([cell, a], style) => `<polygon points="${a < 0 ? SQUARE : TRIANGLES[a]}" ` +
    `transform="translate(${corner(cell)})" fill="none" ${style}/>`;
  /** @param {Entry} entry */
  const middle = ([cell, a]) => corner(cell).map((x, axis) =>
    x + 30 + (a < 0 ? 0 : 18 * STEPS[a][1 - axis]));
  const parts = (backup?.reads ?? []).map((entry) =>
    framed(entry, 'class="read"') + (backup ? `<path class="read" d="M${middle(entry)}L${
      middle(backup.write)}"/>` : ""));
  if (backup) parts.push(framed(backup.write, 'class="write"'));
  const [x, y] = corner(Math.max(world.at, 0));
  if (world.at >= 0) parts.push(`<circle class="agent" cx="${x + 30}" cy="${y + 30}" r="6"/>`);
  return parts.join("");
}

/** @param {any} svg @param {Run} run @param {number} scale */
function drawGrid(svg, run, scale) {
  const {map, wind} = page.grid;
  const [height, width] = [map.length * UNIT, wind.length * UNIT];
  svg.setAttribute("viewBox", `-2 -2 ${width + 4} ${height + 30}`);
  const room = Math.min(svg.clientWidth / wind.length, svg.clientHeight / map.length);
  const parts = page.problem.over.map((_, cell) => drawCell(run, cell, scale, room));
  parts.push(drawBackup(run), ...wind.map((strength, column) =>
    label(UNIT * column + 30, height + 19, "↑".repeat(strength))));
  if (document.activeElement === svg) {
    parts.push(`<polygon class="cursor" points="4,4 56,4 56,56 4,56" transform="translate(${
      corner(page.cursor)})"/>`);
  }
  svg.innerHTML = parts.join("");
}

/** A curve for each run, on a logarithmic scale with lines of their own for 0 and ∞.
 * @param {"gap" | "rms"} quantity */
function drawCurve(quantity) {
  const across = /** @type {"updates" | "steps"} */ ($("#across").value);
  const courses = page.runs.map(({course}) => course.filter((one) => !Number.isNaN(one[quantity])));
  const numbers = courses.flat().map((one) => one[quantity]);
  const sizes = numbers.filter((y) => y > 1e-13 && y < Infinity);
  const low = Math.floor(Math.log10(Math.min(...sizes, 0.1)));
  const high = Math.max(Math.ceil(Math.log10(Math.max(...sizes, 0.1))), low + 1);
  const most = Math.max(...courses.flat().map((one) => one[across]), 10);
  const [left, right, top, bottom] = [48, 525, 36, 176];
  const X = (/** @type {number} */ x) => left + (right - left) * x / most;
  const Y = (/** @type {number} */ y) => y <= 1e-13 ? bottom + 18 : y === Infinity ? top - 18
    : bottom - (bottom - top) * (Math.log10(y) - low) / (high - low);
  /** @type {string[]} */
  const parts = [];
  const line = (/** @type {number} */ y, /** @type {string} */ text) => parts.push(
    `<path d="M${left} ${Y(y)}H${right}" stroke="var(--line)"/>`,
    label(left - 6, Y(y) + 4, text, "text-anchor:end"));
  for (let power = high; power >= low; power -= Math.ceil((high - low) / 6)) {
    const raised = [...String(power)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)] ?? "⁻").join("");
    line(10 ** power, Math.abs(power) < 3 ? String(Number((10 ** power).toFixed(2))) : `10${raised}`);
  }
  line(0, "0");
  if (numbers.includes(Infinity)) line(Infinity, "∞");
  const size = 10 ** Math.floor(Math.log10(most / 2));
  const tick = [1, 2, 5, 10].map((n) => n * size).find((n) => most / n <= 5) ?? most;
  for (let x = 0; x <= most; x += tick) parts.push(label(X(x), bottom + 40, x.toLocaleString("en")));
  courses.forEach((course, i) => {
    const at = course.map((one) => `${X(one[across]).toFixed(1)},${Y(one[quantity]).toFixed(1)}`);
    const style = `stroke="${COLOURS[i]}" stroke-dasharray="${i ? "7 4" : ""}"`;
    parts.push(`<polyline points="${at.join(" ")}" fill="none" stroke-width="2" ${style}/>`);
    if (at.length) {
      parts.push(`<path d="M${at.at(-1)}h0" stroke="${COLOURS[i]}" stroke-width="9" ` +
        'stroke-linecap="round"/>');
    }
  });
  $(`#${quantity}`).innerHTML = parts.join("");
}

/** Measure both runs, and draw all that changes while they go on. */
function show() {
  const {grid, problem, best, cursor, runs} = page;
  const sizes = runs.flatMap((run) => problem.states.flatMap((s) =>
    [Math.abs(run.value(s)), Math.abs(run.exact?.values[s] ?? 0)]));
  const scale = Math.max(...sizes.filter(Number.isFinite), 1e-9);
  runs.forEach((run, i) => {
    const {gap, rms} = run.measure();
    const {unit, improves} = run.method;
    const phase = run.ended ? "converged" : run.backup?.improved ? "improving" : "evaluating";
    drawGrid($("svg", panels[i]), run, scale);
    $(".numbers", panels[i]).innerHTML = [
      counted(run.units, unit), counted(run.updates, "update"),
      ...(unit === "episode" ? [counted(run.world.steps, "step")] : []),
      ...(improves || run.ended ? [phase] : []),
      ...(run.method.given ? [] : [`gap <b>${written(gap)}</b>`]), `RMS error <b>${written(rms)}</b>`,
    ].join(", ");
  });
  drawCurve("gap");
  drawCurve("rms");
  const [row, column] = placeOf(grid, cursor);
  const told = [`Row ${row + 1}, column ${column + 1}: ${NAMES[kindOf(grid, cursor)]}.`];
  if (problem.states.includes(cursor)) {
    if (best) told.push(`Optimal value ${written(best.values[cursor], 6)}.`);
    runs.forEach((run, i) => told.push(`${"AB"[i]}: ${run.method.shows === "V"
      ? written(run.value(cursor), 6)
      : [...run.table.Q[cursor]].map((q, a) => `${ARROWS[a]} ${written(q)}`).join(", ")}.`));
  }
  $("#readout").textContent = told.join(" ");
}

// What the reader does

/** Keep the grid and the settings in the page's address. */
function remember() {
  const said = new URLSearchParams({...fragmentOf(page.grid), seed: $("#seed").value});
  page.names.forEach((name, i) =>
    said.set("ab"[i], [name, ...SETTINGS.map((setting) => page.settings[i][setting])].join(",")));
  history.replaceState(null, "", `#${said}`);
}

/** Take the grid and the settings of the page's address, as far as they are allowed. */
function recall() {
  const asked = new URLSearchParams(location.hash.slice(1));
  page.names.forEach((_, i) => {
    const [name, ...numbers] = (asked.get("ab"[i]) ?? "").split(",");
    const [alpha, epsilon, lambda, n] = numbers.map(Number);
    const allowed = [alpha, epsilon, lambda, n / 50].every((x) => x >= 0 && x <= 1);
    if (!Object.hasOwn(METHODS, name) || !allowed || !Number.isInteger(n)) return;
    page.names[i] = name;
    page.settings[i] = {alpha, epsilon, lambda, n};
  });
  $("#seed").value = Number(asked.get("seed")) || 1;
  attempt(() => use(gridOf(asked) ?? page.grid));
}

function restart() {
  page.runs = page.names.map((name, i) => new Run(page.problem, name, page.settings[i], page.best,
    randomNumbers(Number($("#seed").value))));
  page.names.forEach((name, i) => {
    $("[name=algorithm]", panels[i]).value = name;
    for (const setting of SETTINGS) {
      const slider = $(`[data-for=${setting}]`, panels[i]);
      slider.hidden = !METHODS[name].uses.includes(setting);
      $("input", slider).value = $("output", slider).value = page.settings[i][setting];
    }
  });
  show();
  remember();
}

/** Solve a grid and start both algorithms on it. @param {Grid} grid */
function use(grid) {
  page.grid = checked(grid);
  page.problem = problemOf(grid);
  page.best = optimum(page.problem);
  page.cursor = Math.min(page.cursor, page.problem.over.length - 1);
  const {preset, rows, columns, step, gamma, slip} = $("#world").elements;
  const asText = (/** @type {Grid} */ one) => JSON.stringify(fragmentOf(one));
  preset.value = Object.keys(PRESETS).find((name) => asText(PRESETS[name]) === asText(grid)) ?? "";
  [rows.value, columns.value, step.value] = [grid.map.length, grid.wind.length, grid.step];
  gamma.value = gamma.nextElementSibling.value = grid.gamma;
  slip.value = grid.slip;
  slip.nextElementSibling.value = written(grid.slip / SLIPS, 3);
  $("#source").value = pythonOf(grid, $("#rules").textContent);
  tell(page.best ? "" : "Without a discount this grid has no optimum: some cell leads to no end, " +
    "or it is best never to end. Open a way, or choose γ below 1.");
  restart();
}

/** @param {string} message */
function tell(message) {
  $("#message").textContent = message;
  $("#message").hidden = !message;
}

/** @param {() => void} action */
function attempt(action) {
  try {
    action();
  } catch (error) {
    if (!page.runs.length) use(page.grid);
    tell(error instanceof Error ? error.message : String(error));
  }
}

/** Use the grid with changes. @param {Partial<Grid>} changes */
const change = (changes) => attempt(() => use({...page.grid, ...changes}));

/** The rewards with that of a cell set; without a number it has that of a move.
 * @param {number} cell @param {number | undefined} reward */
function rewarded(cell, reward) {
  const {[keyOf(page.grid, cell)]: _, ...others} = page.grid.rewards;
  return reward === undefined || reward === page.grid.step ? others
    : {...others, [keyOf(page.grid, cell)]: reward};
}

/** @param {number} cell @param {string} kind */
function paint(cell, kind) {
  const columns = page.grid.wind.length;
  if (kindOf(page.grid, cell) === kind) return;
  const map = page.grid.map.map((row, r) => [...row].map((own, c) =>
    r * columns + c === cell ? kind : kind === "S" && own === "S" ? "." : own).join(""));
  change({map, rewards: rewarded(cell, REWARDS_OF_KINDS[kind])});
}

/** @param {number} cell */
const blow = (cell) => change({wind: page.grid.wind.map((strength, column, {length}) =>
  column === cell % length ? (strength + 1) % (STRONGEST + 1) : strength)});

/** Use the chosen tool on a cell. @param {number} cell */
function apply(cell) {
  const tool = $("[name=tool]:checked").value;
  page.cursor = cell;
  if (tool === "look") show();
  else if (tool === "wind") blow(cell);
  else if (tool === "reward") change({rewards: rewarded(cell, Number($("#reward").value))});
  else paint(cell, tool);
}

/** @param {number} rows @param {number} columns */
function resize(rows, columns) {
  const {map, rewards, wind} = page.grid;
  const inside = (/** @type {[string, number]} */ [key]) =>
    key.split(",").every((place, axis) => Number(place) < [rows, columns][axis]);
  change({
    map: Array.from({length: rows}, (_, r) => (map[r] ?? "").padEnd(columns, ".").slice(0, columns)),
    rewards: Object.fromEntries(Object.entries(rewards).filter(inside)),
    wind: Array.from({length: columns}, (_, c) => wind[c] ?? 0),
  });
}

/** Make updates in both runs. @param {number} most @param {boolean} [unit] until a sweep or an
 * episode ends */
function advance(most, unit = false) {
  for (const run of page.runs) {
    const {units} = run;
    for (let n = 0; n < most && !run.ended && !(unit && run.units > units); n++) run.update();
  }
}

/** @param {boolean} running */
function setRunning(running) {
  page.running = running;
  $("#run").firstChild.textContent = running ? "Stop " : "Run ";
  $("#run").setAttribute("aria-pressed", running);
  let [last, due] = [performance.now(), 0];
  const frame = (/** @type {number} */ now) => {
    if (!page.running) return;
    due += Math.min(now - last, 100) / 1000 * 10 ** Number($("#speed").value);
    last = now;
    // A slow machine does what it can within a frame.
    const until = performance.now() + 30;
    const drawn = due >= 1;
    for (; due >= 1 && performance.now() < until; due -= Math.min(20, Math.floor(due))) {
      advance(Math.min(20, Math.floor(due)));
    }
    due %= 1;
    if (drawn) show();
    if (page.runs.every((run) => run.ended)) setRunning(false);
    else requestAnimationFrame(frame);
  };
  if (running) requestAnimationFrame(frame);
}

/** A key in a grid. @param {KeyboardEvent} event */
function typed(event) {
  const {grid, cursor} = page;
  const kind = event.key.toUpperCase();
  const turn = ["ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"].indexOf(event.key);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (turn >= 0) {
    const [row, column] = placeOf(grid, cursor).map((place, axis) => place + STEPS[turn][axis]);
    if (grid.map[row]?.[column]) page.cursor = row * grid.wind.length + column;
    show();
  } else if (event.key === "Enter" || event.key === " ") apply(cursor);
  else if (event.key === "w") blow(cursor);
  else if (event.key === "+" || event.key === "-") {
    const own = grid.rewards[keyOf(grid, cursor)] ?? grid.step;
    change({rewards: rewarded(cursor, own + Number(`${event.key}1`))});
  } else if (KINDS.includes(kind)) paint(cursor, kind);
  else return;
  event.preventDefault();
}

/** @param {number} i */
function listenToPanel(i) {
  const svg = $("svg", panels[i]);
  const choice = $("[name=algorithm]", panels[i]);
  choice.append(...Object.entries(METHODS).map(([name, method]) => new Option(method.name, name)));
  choice.addEventListener("change", () => {
    page.names[i] = choice.value;
    page.settings[i] = defaults();
    restart();
  });
  $(".sliders", panels[i]).addEventListener("input", (/** @type {any} */ {target}) => {
    page.settings[i][/** @type {keyof Settings} */ (target.name)] = Number(target.value);
    target.nextElementSibling.value = target.value;
    remember();
  });
  let painted = -1;
  const paintAt = (/** @type {PointerEvent} */ event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    const [row, column] = [Math.floor(point.y / UNIT), Math.floor(point.x / UNIT)];
    const cell = row * page.grid.wind.length + column;
    if (cell === painted || !(column in page.grid.wind) || row < 0) return;
    painted = cell;
    if (row < page.grid.map.length) apply(cell);
    else blow(column);
  };
  svg.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    svg.focus({preventScroll: true});
    painted = -1;
    paintAt(event);
  });
  svg.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (event.buttons) paintAt(event);
  });
  svg.addEventListener("keydown", typed);
  for (const name of ["focus", "blur"]) svg.addEventListener(name, show);
}

function listen() {
  const world = $("#world").elements;
  const read = (/** @type {string} */ text) => attempt(() => use(gridOfPython(text)));
  const pace = () => $("#speed + output").value = `${written(10 ** Number($("#speed").value), 2)}/s`;
  const resized = () => resize(Number(world.rows.value), Number(world.columns.value));
  const touched = () => panels.forEach((panel) =>
    $("svg", panel).classList.toggle("edit", $("[name=tool]:checked").value !== "look"));
  const saved = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([$("#source").value], {type: "text/x-python"}));
    link.download = "my_grid.py";
    link.click();
  };
  /** @type {[any, string, () => void][]} */
  const listeners = [
    [world.preset, "change", () => world.preset.value && change(PRESETS[world.preset.value])],
    [world.rows, "change", resized], [world.columns, "change", resized],
    [world.step, "change", () => change({step: Number(world.step.value)})],
    [world.gamma, "input", () => change({gamma: Number(world.gamma.value)})],
    [world.slip, "input", () => change({slip: Number(world.slip.value)})],
    [$("#tools"), "change", touched], [$("#speed"), "input", pace],
    [$("#one"), "click", () => (advance(1), show())],
    [$("#unit"), "click", () => (advance(100_000, true), show())],
    [$("#run"), "click", () => setRunning(!page.running)],
    [$("#restart"), "click", restart], [$("#seed"), "change", restart],
    [$("#view"), "change", show], [$("#across"), "change", show], [window, "resize", show],
    [$("#read"), "click", () => read($("#source").value)], [$("#save"), "click", saved],
    [$("#file"), "change", async () => read(await $("#file").files[0].text())],
    [window, "hashchange", recall],
  ];
  for (const [target, name, action] of listeners) target.addEventListener(name, action);
  panels.forEach((_, i) => listenToPanel(i));
  $("#world").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
  addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.matches("input:not([type=range], [type=radio]), select, textarea")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    $(`[data-key="${CSS.escape(event.key)}"]`)?.click();
  });
  pace();
}

listen();
recall();
