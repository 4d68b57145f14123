// The page: drawing the world, running two algorithms on it, and their pictures.

const UNIT = 60;
const TRIANGLES = ["0,0 60,0 30,30", "60,0 60,60 30,30", "60,60 0,60 30,30", "0,60 0,0 30,30"];
const PLACES = [[30, 17], [53, 34], [30, 51], [7, 34]];
const ANCHORS = ["middle", "end", "middle", "start"];
const REWARDS_OF_KINDS = {G: 1, H: -1, C: -10};

/** @type {any} */
const $ = (/** @type {string} */ selector, /** @type {ParentNode} */ within = document) =>
  within.querySelector(selector);
const panels = [$("#panel0"), $("#panel1")];

const page = {
  grid: PRESETS["Frozen lake"],
  problem: problemOf(PRESETS["Frozen lake"]),
  /** @type {Evaluated | null} */
  best: null,
  /** @type {Run[]} */
  runs: [],
  names: ["value_iteration", "q_learning"],
  /** @type {Settings[]} */
  settings: [0, 1].map(() => ({alpha: 0.1, epsilon: 0.1, lambda: 0.9, n: 5})),
  cursor: 0,
  running: false,
  due: 0,
};

/** A number for people. @param {number} x @param {number} [digits] */
function written(x, digits = 4) {
  if (Number.isNaN(x)) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : "−∞";
  const size = Math.abs(x);
  const text = size && (size < 1e-3 || size >= 1e6) ? x.toExponential(digits - 3)
    : String(Number(x.toPrecision(digits)));
  return text.replace(/-/g, "−");
}

/** A value in a cell. @param {number} x @param {number} digits of one between 1 and 10 */
function inCell(x, digits) {
  if (!Number.isFinite(x)) return written(x);
  const size = Math.abs(x);
  const text = x.toFixed(size >= 99.5 ? 0 : size >= 9.95 ? digits - 1 : size >= 0.995 ? digits : 2);
  return (Number(text) === 0 ? "0" : text).replace("-", "−");
}

// What is drawn of a grid

/** @param {number} value @param {number} scale */
const tint = (value, scale) => `fill="var(--${value < 0 ? "down" : "up"})" ` +
  `fill-opacity="${Number.isFinite(value) ? (0.62 * Math.min(Math.abs(value) / scale, 1)).toFixed(3) : 0}"`;

/** The policy of a cell as arrows from a point, or as tips at the edge. */
/** @param {ArrayLike<number>} chances @param {number} y @param {boolean} tips */
function arrows(chances, y, tips) {
  const taken = [0, 1, 2, 3].filter((a) => chances[a] > 0);
  if (taken.length === 4) return tips ? "" : `<circle cx="30" cy="${y}" r="2" fill="var(--ink)"/>`;
  const [from, path] = tips ? [30, "M0 -29L4 -25H-4Z"] : [y, "M0 5V-9M-5 -4L0 -9L5 -4"];
  return taken.map((a) => `<path d="${path}" transform="translate(30 ${from}) rotate(${90 * a})" ` +
    `fill="${tips ? "var(--ink)" : "none"}" stroke="var(--ink)" stroke-width="${tips ? 1 : 2}"/>`).join("");
}

/** @param {number} cell */
const corner = (cell) => {
  const columns = page.grid.map[0].length;
  return [UNIT * (cell % columns), UNIT * Math.floor(cell / columns)];
};

/** @param {Entry} entry */
const middle = ([cell, a]) => {
  const [x, y] = corner(cell);
  return a < 0 ? [x + 30, y + 30] : [x + 30 + 18 * STEPS[a][1], y + 30 + 18 * STEPS[a][0]];
};

/**
 * The numbers of a cell by the view: its value, those of its actions if it is split, its policy.
 * @param {Run} run @param {number} s @param {string} view
 */
function shownIn(run, s, view) {
  const own = run.value(s);
  const split = run.table.Q && !run.table.V ? run.table.Q[s] : null;
  const policy = run.policyIn(s);
  if (view === "estimate" || !run.exact) return {value: own, split, policy};
  const exact = run.exact.values;
  if (view === "error") return {value: own - exact[s], split: null, policy};
  const Q = lookahead(page.problem, s, exact);
  const best = Math.max(...Q);
  const optimal = greedy(Q.map((q) => Number(q >= best - TIE * (1 + Math.abs(best)))));
  return {value: exact[s], split: split && Q, policy: run.algorithm.predicts ? policy : optimal};
}

/** @param {SVGSVGElement} svg @param {Run} run @param {number} scale */
function drawGrid(svg, run, scale) {
  const {grid, problem} = page;
  const [rows, columns] = [grid.map.length, grid.map[0].length];
  const band = grid.wind.some(Boolean) ? 26 : 0;
  svg.setAttribute("viewBox", `-2 -2 ${columns * UNIT + 4} ${rows * UNIT + 4 + band}`);
  const room = Math.min(svg.clientWidth / columns, svg.clientHeight / rows);
  const live = new Set(problem.states);
  const parts = [];
  for (let cell = 0; cell < rows * columns; cell++) {
    const [x, y] = corner(cell);
    const kind = kindOf(grid, cell);
    const reward = grid.rewards[keyOf(grid, cell)];
    const fill = {"#": "wall", G: "goal", H: "pit", C: "pit"}[kind] ?? "paper";
    parts.push(`<g transform="translate(${x} ${y})"><rect width="60" height="60" ` +
      `fill="var(--${fill})" stroke="var(--line)"/>`);
    if (live.has(cell)) {
      const {value, split, policy} = shownIn(run, cell, $("#view").value);
      if (split) {
        split.forEach((q, a) => parts.push(
          `<polygon points="${TRIANGLES[a]}" stroke="var(--line)" ${tint(q, scale)}/>`,
          room > 42 ? `<text x="${PLACES[a][0]}" y="${PLACES[a][1]}" style="text-anchor:${ANCHORS[a]};` +
          `font-size:10.5px;font-weight:${policy[a] > 0 ? 700 : 400}">${inCell(q, 1)}</text>` : ""));
        parts.push(arrows(policy, 30, room > 42));
      } else {
        parts.push(`<rect width="60" height="60" ${tint(value, scale)}/>`,
          room > 34 ? `<text x="30" y="26" style="font-size:17px">${inCell(value, 2)}</text>` : "",
          arrows(policy, room > 34 ? 44 : 30, false));
      }
    } else if (kind !== "#") {
      const text = kind === "." || kind === "S" ? "unreached" : kind;
      parts.push(`<text x="30" y="36" style="font-size:${text.length > 1 ? 11 : 20}px">${text}</text>`);
    }
    if (kind === "S") parts.push('<text x="7" y="12" style="font-size:12px;font-weight:700">S</text>');
    if (reward !== undefined && kind !== "#") {
      const sign = reward > 0 ? "+" : "";
      parts.push(`<text x="57" y="${kind === "." ? 12 : 55}" style="font-size:12px;font-weight:700;` +
        `text-anchor:end">${sign}${written(reward)}</text>`);
    }
    parts.push("</g>");
  }
  parts.push(drawBackup(run));
  grid.wind.forEach((strength, column) => {
    const text = strength ? `${"↑".repeat(strength)}` : "";
    parts.push(`<text x="${UNIT * column + 30}" y="${rows * UNIT + 19}">${text}</text>`);
  });
  if (document.activeElement === svg) {
    const [x, y] = corner(page.cursor);
    parts.push(`<rect x="${x + 3}" y="${y + 3}" width="54" height="54" fill="none" ` +
      `stroke="var(--ink)" stroke-width="2" stroke-dasharray="3 3"/>`);
  }
  svg.innerHTML = parts.join("");
}

/** The entries that the last update has read and written, and the agent. @param {Run} run */
function drawBackup(run) {
  /** @param {Entry} entry @param {string} style */
  const framed = ([cell, a], style) => {
    const [x, y] = corner(cell);
    const points = a < 0 ? "1,1 59,1 59,59 1,59" : TRIANGLES[a];
    return `<polygon points="${points}" transform="translate(${x} ${y})" fill="none" ${style}/>`;
  };
  const {backup, world} = run;
  const parts = [];
  if (backup) {
    const to = middle(backup.write);
    for (const entry of backup.reads) {
      const from = middle(entry);
      parts.push(framed(entry, 'stroke="var(--read)" stroke-width="2.5" stroke-dasharray="5 3"'),
        `<path d="M${from}L${to}" stroke="var(--read)" stroke-width="1.5" stroke-dasharray="2 3"/>`);
    }
    parts.push(framed(backup.write, 'stroke="var(--write)" stroke-width="4"'));
  }
  if (world.at >= 0) {
    const [x, y] = corner(world.at);
    parts.push(`<circle cx="${x + 30}" cy="${y + 30}" r="6" fill="var(--agent)" stroke="#000"/>`);
  }
  return parts.join("");
}

// Curves

const superscript = (/** @type {number} */ power) =>
  [...String(power)].map((digit) => "⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(digit)] ?? "⁻").join("");

/** @param {SVGSVGElement} svg @param {"gap" | "rms"} quantity */
function drawCurve(svg, quantity) {
  const across = /** @type {"updates" | "steps"} */ ($("#across").value);
  const points = page.runs.flatMap((run) => run.course);
  const sizes = points.map((one) => one[quantity]).filter((y) => y > 1e-13 && Number.isFinite(y));
  const low = Math.floor(Math.log10(Math.min(...sizes, 0.1)));
  const high = Math.max(Math.ceil(Math.log10(Math.max(...sizes, 0.1))), low + 1);
  const most = Math.max(...points.map((one) => one[across]), 10);
  const [left, right, top, bottom] = [48, 530, 36, 176];
  const X = (/** @type {number} */ x) => left + (right - left) * x / most;
  const Y = (/** @type {number} */ y) => y <= 1e-13 ? bottom + 18 : y === Infinity ? top - 14
    : bottom - (bottom - top) * (Math.log10(y) - low) / (high - low);
  const parts = [];
  const line = (/** @type {number} */ y, /** @type {string} */ text) => parts.push(
    `<path d="M${left} ${y}H${right}" stroke="var(--line)"/>`,
    `<text x="${left - 6}" y="${y + 4}" style="text-anchor:end">${text}</text>`);
  const every = Math.ceil((high - low) / 6);
  for (let power = high; power >= low; power -= every) line(Y(10 ** power), `10${superscript(power)}`);
  line(bottom + 18, "0");
  if (points.some((one) => one[quantity] === Infinity)) line(top - 14, "∞");
  const size = 10 ** Math.floor(Math.log10(most / 2));
  const tick = [1, 2, 5, 10].map((n) => n * size).find((n) => most / n <= 6) ?? most;
  for (let x = 0; x <= most; x += tick) {
    parts.push(`<text x="${X(x)}" y="${bottom + 36}">${x.toLocaleString("en")}</text>`);
  }
  page.runs.forEach((run, i) => {
    const known = run.course.filter((one) => !Number.isNaN(one[quantity]));
    if (!known.length) return;
    const at = known.map((one) => `${X(one[across]).toFixed(1)} ${Y(one[quantity]).toFixed(1)}`);
    const colour = i ? "var(--down)" : "var(--up)";
    parts.push(`<path d="M${at.join("L")}" fill="none" stroke="${colour}" stroke-width="2" ` +
      `stroke-dasharray="${i ? "7 4" : ""}"/>`,
    `<circle cx="${at[at.length - 1].split(" ")[0]}" cy="${at[at.length - 1].split(" ")[1]}" r="4" ` +
      `fill="${colour}"/>`);
  });
  svg.setAttribute("viewBox", "0 0 560 216");
  svg.innerHTML = parts.join("");
}

/** Measure both runs, and draw everything that changes while they go on. */
function show() {
  const measured = page.runs.map((run) => run.measure());
  const shown = page.runs.flatMap((run) => page.problem.states.flatMap((s) =>
    [run.value(s), run.exact ? run.exact.values[s] : 0]));
  const scale = Math.max(...shown.filter(Number.isFinite).map(Math.abs), 1e-9);
  page.runs.forEach((run, i) => {
    const {gap, rms} = measured[i];
    const {unit} = run.algorithm;
    const counted = run.units === 1 ? unit : `${unit}s`;
    drawGrid($("svg", panels[i]), run, scale);
    $(".numbers", panels[i]).innerHTML =
      `${run.units.toLocaleString("en")} ${counted}, ${run.updates.toLocaleString("en")} updates` +
      `${unit === "episode" ? `, ${run.world.steps.toLocaleString("en")} steps` : ""}` +
      `${run.ended ? ", converged" : ""}. ` +
      `${Number.isNaN(gap) ? "" : `Gap <b class="gap">${written(gap)}</b>, `}` +
      `RMS error <b class="rms">${written(rms)}</b>`;
  });
  drawCurve($("#gap"), "gap");
  drawCurve($("#rms"), "rms");
  tellCell();
}

function tellCell() {
  const {grid, problem, best, cursor} = page;
  const kinds = {".": "open", "#": "wall", S: "start", G: "goal", H: "pit", C: "cliff"};
  const [row, column] = keyOf(grid, cursor).split(",").map((n) => Number(n) + 1);
  const parts = [`Row ${row}, column ${column}: ${kinds[kindOf(grid, cursor)]}.`];
  if (problem.states.includes(cursor)) {
    if (best) parts.push(`Optimal value ${written(best.values[cursor], 6)}.`);
    page.runs.forEach((run, i) => {
      const {Q, V} = run.table;
      const numbers = Q && !V ? [...Q[cursor]].map((q, a) => `${ARROWS[a]} ${written(q)}`).join(", ")
        : written(run.value(cursor), 6);
      parts.push(`${"AB"[i]}: ${numbers}.`);
    });
  }
  $("#readout").textContent = parts.join(" ");
}

// What the reader does

function restart() {
  page.runs = page.names.map((name, i) => new Run(page.problem, name, page.settings[i], page.best,
    randomNumbers(Number($("#seed").value))));
  page.names.forEach((name, i) => {
    $("[name=algorithm]", panels[i]).value = name;
    for (const setting of /** @type {(keyof Settings)[]} */ (["alpha", "epsilon", "lambda", "n"])) {
      const label = $(`[data-for=${setting}]`, panels[i]);
      label.hidden = !ALGORITHMS[name].uses.includes(setting);
      $("input", label).value = $("output", label).value = page.settings[i][setting];
    }
  });
  show();
  remember();
}

/** Keep the grid and the settings in the page's address. */
function remember() {
  const said = new URLSearchParams(fragmentOf(page.grid));
  page.names.forEach((name, i) => {
    const {alpha, epsilon, lambda, n} = page.settings[i];
    said.set("ab"[i], [name, alpha, epsilon, lambda, n].join(","));
  });
  said.set("seed", $("#seed").value);
  history.replaceState(null, "", `#${said}`);
}

/** Take the grid and the settings of the page's address, as far as they are allowed. */
function recall() {
  const asked = new URLSearchParams(location.hash.slice(1));
  page.names.forEach((_, i) => {
    const [name, ...numbers] = (asked.get("ab"[i]) ?? "").split(",");
    const [alpha, epsilon, lambda, n] = numbers.map(Number);
    const share = (/** @type {number} */ x) => x >= 0 && x <= 1;
    if (Object.hasOwn(ALGORITHMS, name) && [alpha, epsilon, lambda].every(share) &&
        Number.isInteger(n) && n >= 1 && n <= 50) {
      page.names[i] = name;
      page.settings[i] = {alpha, epsilon, lambda, n};
    }
  });
  if (Number(asked.get("seed"))) $("#seed").value = Number(asked.get("seed"));
  attempt(() => use(gridOf(asked) ?? page.grid));
}

/** Solve a grid and start both algorithms on it. @param {Grid} grid */
function use(grid) {
  page.grid = checked(grid);
  page.problem = problemOf(grid);
  page.best = optimum(page.problem);
  page.cursor = Math.min(page.cursor, page.problem.size - 1);
  const world = $("#world").elements;
  const same = Object.keys(PRESETS).find((name) =>
    JSON.stringify(fragmentOf(PRESETS[name])) === JSON.stringify(fragmentOf(grid)));
  world.preset.value = same ?? "";
  world.rows.value = grid.map.length;
  world.columns.value = grid.map[0].length;
  world.step.value = grid.step;
  for (const name of /** @type {const} */ (["gamma", "slip"])) {
    world[name].value = grid[name];
    $(`[data-for=${name}] output`).value = name === "slip"
      ? written(grid.slip / SLIPS, 3) : written(grid.gamma);
  }
  $("#source").value = pythonOf(grid, $("#rules").textContent);
  tell(page.best ? "" : "Without a discount the optimum here is not finite: rewards can be " +
    "collected for ever, or no end can be reached. With γ below 1 there are exact numbers.");
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
    tell(error instanceof Error ? error.message : String(error));
  }
}

/** Use the grid with changes. @param {Partial<Grid>} changes */
const change = (changes) => attempt(() => use({...page.grid, ...changes}));

/** Set the reward of a cell; without a number it has that of a move. */
/** @param {number} cell @param {number | undefined} reward */
function rewarded(cell, reward) {
  const {[keyOf(page.grid, cell)]: _, ...others} = page.grid.rewards;
  return reward === undefined || reward === page.grid.step ? others
    : {...others, [keyOf(page.grid, cell)]: reward};
}

/** @param {number} cell @param {string} kind */
function paint(cell, kind) {
  const columns = page.grid.map[0].length;
  if (kindOf(page.grid, cell) === kind) return;
  const map = page.grid.map.map((row, r) => [...row].map((own, c) =>
    r * columns + c === cell ? kind : kind === "S" && own === "S" ? "." : own).join(""));
  change({map, rewards: rewarded(cell, REWARDS_OF_KINDS[kind])});
}

/** @param {number} cell */
function blow(cell) {
  const wind = [...page.grid.wind];
  wind[cell % wind.length] = (wind[cell % wind.length] + 1) % (STRONGEST + 1);
  change({wind});
}

/** @param {number} cell */
function apply(cell) {
  const tool = $("[name=tool]:checked").value;
  page.cursor = cell;
  if (tool === "look") show();
  else if (tool === "wind") blow(cell);
  else if (tool === "reward") change({rewards: rewarded(cell, Number($("#reward").value))});
  else paint(cell, tool);
}

/** @param {number} count updates of each run */
function advance(count) {
  for (const run of page.runs) for (let n = 0; n < count && !run.ended; n++) run.update();
}

/** Go on to the end of a sweep or an episode, for each run. */
function advanceUnit() {
  for (const run of page.runs) {
    const {units} = run;
    for (let n = 0; n < 100_000 && run.units === units && !run.ended; n++) run.update();
  }
  show();
}

/** @param {boolean} running */
function setRunning(running) {
  page.running = running;
  $("#run").firstChild.textContent = running ? "Stop " : "Run ";
  $("#run").setAttribute("aria-pressed", running);
  let last = performance.now();
  const frame = (/** @type {number} */ now) => {
    if (!page.running) return;
    page.due += Math.min(now - last, 100) / 1000 * 10 ** Number($("#speed").value);
    last = now;
    const count = Math.floor(page.due);
    page.due -= count;
    if (count) {
      // A slow machine does what it can within a frame.
      const until = performance.now() + 30;
      for (let done = 0; done < count && performance.now() < until; done += 20) {
        advance(Math.min(20, count - done));
      }
      show();
    }
    if (page.runs.every((run) => run.ended)) setRunning(false);
    else requestAnimationFrame(frame);
  };
  if (running) requestAnimationFrame(frame);
}

/** @param {number} i */
function listenToPanel(i) {
  const panel = panels[i];
  const svg = $("svg", panel);
  $("[name=algorithm]", panel).append(...Object.entries(ALGORITHMS)
    .map(([name, algorithm]) => new Option(algorithm.name, name)));
  $("[name=algorithm]", panel).addEventListener("change", (/** @type {any} */ event) => {
    page.names[i] = event.target.value;
    page.settings[i] = {alpha: 0.1, epsilon: 0.1, lambda: 0.9, n: 5};
    restart();
  });
  $(".sliders", panel).addEventListener("input", (/** @type {any} */ {target}) => {
    page.settings[i][/** @type {keyof Settings} */ (target.name)] = Number(target.value);
    target.nextElementSibling.value = target.value;
    remember();
  });
  let painted = -1;
  const paintAt = (/** @type {PointerEvent} */ event) => {
    const box = svg.getBoundingClientRect();
    const {width, height} = svg.viewBox.baseVal;
    const scale = Math.min(box.width / width, box.height / height);
    const x = (event.clientX - box.left - (box.width - width * scale) / 2) / scale - 2;
    const y = (event.clientY - box.top - (box.height - height * scale) / 2) / scale - 2;
    const [rows, columns] = [page.grid.map.length, page.grid.map[0].length];
    const [row, column] = [Math.floor(y / UNIT), Math.floor(x / UNIT)];
    if (column < 0 || column >= columns || row < 0) return;
    const cell = row * columns + column;
    if (cell === painted) return;
    painted = cell;
    if (row < rows) apply(cell);
    else blow(column);
  };
  svg.addEventListener("pointerdown", (/** @type {PointerEvent} */ event) => {
    svg.focus({preventScroll: true});
    svg.setPointerCapture(event.pointerId);
    painted = -1;
    paintAt(event);
  });
  svg.addEventListener("pointermove", (/** @type {PointerEvent} */ event) => {
    if (event.buttons) paintAt(event);
  });
  svg.addEventListener("keydown", typed);
  svg.addEventListener("focus", show);
  svg.addEventListener("blur", show);
}

/** A key in a grid. @param {KeyboardEvent} event */
function typed(event) {
  const columns = page.grid.map[0].length;
  const move = {ArrowUp: -columns, ArrowDown: columns,
    ArrowLeft: page.cursor % columns ? -1 : 0,
    ArrowRight: (page.cursor + 1) % columns ? 1 : 0}[event.key];
  const kind = event.key.toUpperCase();
  const key = keyOf(page.grid, page.cursor);
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (move !== undefined) {
    const to = page.cursor + move;
    if (to >= 0 && to < page.problem.size) page.cursor = to;
    show();
  } else if (event.key === "Enter" || event.key === " ") apply(page.cursor);
  else if (event.key === "w") blow(page.cursor);
  else if (event.key === "+" || event.key === "-") {
    const own = page.grid.rewards[key] ?? page.grid.step;
    change({rewards: rewarded(page.cursor, own + (event.key === "+" ? 1 : -1))});
  } else if (KINDS.includes(kind)) paint(page.cursor, kind);
  else return;
  event.preventDefault();
}

function listen() {
  const world = $("#world").elements;
  panels.forEach((_, i) => listenToPanel(i));
  $("#world").addEventListener("submit", (/** @type {Event} */ event) => event.preventDefault());
  world.preset.addEventListener("change", () => {
    if (world.preset.value) change(PRESETS[world.preset.value]);
  });
  world.step.addEventListener("change", () => change({step: Number(world.step.value)}));
  for (const name of ["gamma", "slip"]) {
    world[name].addEventListener("input", () => change({[name]: Number(world[name].value)}));
  }
  for (const name of ["rows", "columns"]) {
    world[name].addEventListener("change", () => {
      const [rows, columns] = [Number(world.rows.value), Number(world.columns.value)];
      const map = Array.from({length: rows}, (_, r) =>
        (page.grid.map[r] ?? "").padEnd(columns, ".").slice(0, columns));
      const rewards = Object.fromEntries(Object.entries(page.grid.rewards).filter(([key]) => {
        const [row, column] = key.split(",").map(Number);
        return row < rows && column < columns;
      }));
      const wind = Array.from({length: columns}, (_, c) => page.grid.wind[c] ?? 0);
      change({map, rewards, wind});
    });
  }
  $("#tools").addEventListener("change", () => panels.forEach((panel) =>
    $("svg", panel).classList.toggle("edit", $("[name=tool]:checked").value !== "look")));
  $("#one").addEventListener("click", () => (advance(1), show()));
  $("#unit").addEventListener("click", advanceUnit);
  $("#run").addEventListener("click", () => setRunning(!page.running));
  $("#restart").addEventListener("click", restart);
  $("#seed").addEventListener("change", restart);
  for (const id of ["#view", "#across"]) $(id).addEventListener("change", show);
  const pace = () => {
    $("#speed + output").value = `${written(10 ** Number($("#speed").value), 2)}/s`;
  };
  $("#speed").addEventListener("input", pace);
  pace();
  const read = (/** @type {string} */ text) => attempt(() => use(gridOfPython(text)));
  $("#read").addEventListener("click", () => read($("#source").value));
  $("#file").addEventListener("change", async () => read(await $("#file").files[0].text()));
  $("#save").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([$("#source").value], {type: "text/x-python"}));
    link.download = "my_grid.py";
    link.click();
    URL.revokeObjectURL(link.href);
  });
  addEventListener("hashchange", recall);
  addEventListener("resize", show);
  addEventListener("keydown", (event) => {
    const target = /** @type {HTMLElement} */ (event.target);
    if (target.matches("input:not([type=range], [type=radio]), select, textarea")) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    $(`[data-key="${CSS.escape(event.key)}"]`)?.click();
  });
}

listen();
recall();
