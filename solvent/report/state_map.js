// Draws values and policy over two fields of the states from the numbers embedded beside them.
(() => {
  "use strict";
  const NONE = 65535, LEVELS = 64, WIDE = 520, HIGH = 420, LARGEST = 64, SIGNED = 13, ALONE = 36, HATCH = 7;
  const READ = { u: [2, "getUint16"], f: [4, "getFloat32"] };
  const unpack = (text, kind) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer), [size, read] = READ[kind];
    return Array.from({ length: bytes.length / size }, (_, i) => view[read](size * i, true));
  };
  const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const mixed = (scale, share) => {
    const place = share * (scale.length - 1);
    const below = Math.min(Math.floor(place), scale.length - 2);
    const [low, high] = [channels(scale[below]), channels(scale[below + 1])];
    return "#" + low.map((a, i) => Math.round(a + (high[i] - a) * (place - below))
      .toString(16).padStart(2, "0")).join("");
  };
  const ink = (hex) => {
    const [r, g, b] = channels(hex);
    return 0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#000" : "#fff";
  };
  // Of -0.000, which is rounding, only the number is left.
  const minus = (text) => text.replace("-", Number(text) ? "−" : "");
  const exact = (value) => {
    if (!Number.isFinite(value)) return "–";
    return minus(value.toFixed(Math.abs(value) < 10 ? 6 : Math.abs(value) < 1000 ? 4 : 2));
  };
  const short = (value) => {
    const digits = Math.abs(value) < 9.9995 ? 3 : Math.abs(value) < 99.95 ? 1 : 0;
    const text = minus(value.toFixed(digits));
    return Number.isInteger(value) ? minus(String(value)) : text;
  };
  const loses = (value) => (value >= 0.0005 ? value.toFixed(4) : value.toExponential(1));
  // Texts have minus signs, which numbers of this language have not.
  const number = (text) => +text.replace("−", "-");
  // A name such as "player A" says which field it is.
  const told = (name, text) => (name === "state" || text.startsWith(name) ? text : `${name} ${text}`);
  const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

  // Slanted lines over a rectangle; cells that can be reached are painted over them.
  const hatching = (left, top, wide, high) => {
    let path = "";
    for (let sum = HATCH; sum < wide + high; sum += HATCH) {
      const from = Math.min(sum, wide), to = Math.max(sum - high, 0);
      path += `M${(left + from).toFixed(1)} ${(top + sum - from).toFixed(1)}` +
        `L${(left + to).toFixed(1)} ${(top + sum - to).toFixed(1)}`;
    }
    return path;
  };

  for (const root of document.querySelectorAll(".state-map")) {
    const find = (selector) => root.querySelector(selector);
    const data = JSON.parse(find("script").textContent);
    const fields = data.fields.map((field) => ({ ...field, place: unpack(field.place, "u") }));
    const value = unpack(data.value, "f");
    const choices = data.choices.map((choice) => ({
      name: choice.name,
      action: unpack(choice.action, "u"),
      value: unpack(choice.value, "f"),
      chance: choice.chance ? unpack(choice.chance, "f") : null,
      tied: unpack(choice.tied, "u"),
    }));
    const agents = data.agents.map((agent) => ({
      name: agent.name,
      seats: agent.seats.map((seat) => (
        { chosen: unpack(seat.chosen, "u"), loss: unpack(seat.loss, "f") })),
    }));
    const listed = choices[0].action.length / Math.max(data.states, 1);
    const starts = new Set(data.start);
    const absent = `cannot be reached${data.left_out ? ", or is left out" : ""}`;
    const across = find(".across"), up = find(".up"), whose = find(".whose"), agent = find(".agent");
    const maps = [find(".values"), find(".actions")];
    const finite = value.slice(0, data.states);
    const low = finite.reduce((a, b) => Math.min(a, b), Infinity);
    const high = finite.reduce((a, b) => Math.max(a, b), -Infinity);
    const level = (v) => (high > low ? Math.round(((v - low) / (high - low)) * (LEVELS - 1)) : 0);
    const shades = Array.from({ length: LEVELS }, (_, n) => mixed(data.scale, n / (LEVELS - 1)));
    const chosen = fields.map(() => 0);
    let grid = new Map(), frame = null, pointed = null, signs = data.signs;

    const x = () => +across.value, y = () => (fields.length > 1 ? +up.value : -1);
    const others = () => fields.map((_, n) => n).filter((n) => n !== x() && n !== y());
    const key = (n) => others().map((f) => fields[f].place[n]).join();

    // The slice with most cells; the first of those that have as many, one with a start before.
    const fullest = () => {
      const count = new Map();
      for (let n = 0; n < data.cells; n++) {
        const slice = key(n), found = count.get(slice) || { size: 0, first: n };
        found.size += 1 + (starts.has(n) ? 0.5 : 0);
        count.set(slice, found);
      }
      const best = [...count.values()].reduce((a, b) => (b.size > a.size ? b : a));
      for (const f of others()) chosen[f] = fields[f].place[best.first];
    };

    const controls = () => {
      find(".fixed").replaceChildren(...others().map((f) => {
        const field = fields[f], label = document.createElement("label");
        label.append(field.name);
        if (field.number && field.values.length > 12) {
          const slider = document.createElement("input"), told = document.createElement("output");
          Object.assign(slider, { type: "range", min: 0, max: field.values.length - 1 });
          slider.style.width = "11rem";
          slider.value = chosen[f];
          const tell = () => { told.value = field.values[slider.value]; };
          slider.addEventListener("input", () => { chosen[f] = +slider.value; tell(); });
          tell();
          label.append(slider, told);
        } else {
          const select = document.createElement("select");
          field.values.forEach((text, i) => select.append(new Option(text, i)));
          select.value = chosen[f];
          select.addEventListener("input", () => { chosen[f] = +select.value; });
          label.append(select);
        }
        return label;
      }));
    };

    const seat = () => choices[+whose.value || 0];
    const learned = () => (agent.value === "" ? null : agents[+agent.value].seats[+whose.value || 0]);
    // The agent's action, where one is compared, or the optimal one.
    const action = (n, compared) => {
      if (n >= data.states) return NONE;
      return compared && learned() ? learned().chosen[n] : seat().action[n * listed];
    };
    // The values that are written beside an axis: round numbers, as many as there is room for.
    const labels = (field, size, wide) => {
      const texts = field.values.map((text) => (text.length > 16 ? `${text.slice(0, 15)}…` : text));
      const room = wide ? 7 * Math.max(...texts.map((text) => text.length)) + 8 : 15;
      const every = [1, 2, 5, 10, 20, 25, 50, 100, 200].find((k) => k * size >= room) || 500;
      const apart = field.number && texts.length > 1
        ? (number(field.values[texts.length - 1]) - number(field.values[0])) / (texts.length - 1) : 1;
      const whole = field.number && field.values.every((text) => Number.isInteger(number(text)));
      const step = every * Math.max(1, Math.ceil(apart - 0.5));
      const shown = [];
      let free = -Infinity;
      texts.forEach((text, i) => {
        if (whole ? number(field.values[i]) % step : i % every) return;
        if (i * size < free) return;
        free = i * size + room;
        shown.push([i, text]);
      });
      return shown.length ? shown : [[0, texts[0]]];
    };

    const draw = () => {
      const columns = fields[x()].values.length, rows = y() < 0 ? 1 : fields[y()].values.length;
      const longest = y() < 0 ? 0
        : Math.max(...fields[y()].values.map((text) => Math.min(text.length, 16)));
      const left = y() < 0 ? 12 : 30 + 7 * longest;
      let wide = Math.min(LARGEST, (WIDE - left) / columns), tall = Math.min(LARGEST, HIGH / rows);
      if (Math.min(wide, tall) >= SIGNED) wide = tall = Math.min(wide, tall);
      wide = Math.min(wide, 4 * tall);
      tall = Math.min(tall, 4 * wide);
      const fromTop = y() >= 0 && fields[y()].name === "row";
      signs = fromTop && fields[x()].name === "column" ? data.arrows : data.signs;
      frame = { left, top: 6, wide, tall, columns, rows, fromTop };
      grid = new Map();
      const fixed = others();
      for (let n = 0; n < data.cells; n++) {
        if (fixed.every((f) => fields[f].place[n] === chosen[f])) {
          grid.set((y() < 0 ? 0 : fields[y()].place[n]) * columns + fields[x()].place[n], n);
        }
      }
      const both = Math.min(wide, tall) < ALONE || learned() !== null;
      maps[1].closest("figure").hidden = !both;
      maps.forEach((svg, i) => { if (i === 0 || both) paint(svg, i === 1, both); });
      find(".second").textContent = agent.value === "" ? "optimal action"
        : `action of ${agents[+agent.value].name}`;
      legend();
    };

    const corner = (cell) => {
      const { left, top, wide, tall, columns, rows, fromTop } = frame;
      const row = Math.floor(cell / columns);
      return [left + (cell % columns) * wide, top + (fromTop ? row : rows - 1 - row) * tall];
    };

    const paint = (svg, byAction, both) => {
      const { left, top, wide, tall, columns, rows } = frame;
      const width = left + columns * wide + 12, height = top + rows * tall + 40;
      const paths = new Map(), over = [];
      const small = Math.min(wide, tall), gap = small >= SIGNED ? 0.5 : 0;
      const most = learned() ? largest() : 0;
      let missing = columns * rows;
      const text = (content, at, down, size, fill) => over.push(
        `<text x="${at.toFixed(1)}" y="${down.toFixed(1)}" text-anchor="middle" ` +
        `style="fill: ${fill}; font-size: ${size.toFixed(1)}px">${escaped(content)}</text>`);
      for (const [cell, n] of grid) {
        const [cx, cy] = corner(cell);
        missing -= 1;
        const end = n >= data.states, known = Number.isFinite(value[n]);
        const colour = byAction
          ? (end || action(n, true) === NONE ? "" : data.colours[action(n, true)])
          : (end || !known ? "" : shades[level(value[n])]);
        const path = `M${(cx + gap).toFixed(2)} ${(cy + gap).toFixed(2)}h${(wide - 2 * gap).toFixed(2)}` +
          `v${(tall - 2 * gap).toFixed(2)}h${(2 * gap - wide).toFixed(2)}z`;
        paths.set(colour, (paths.get(colour) || "") + path);
        const costs = byAction && learned() && !end && learned().loss[n] > 1e-9;
        const fill = costs ? "#fff" : colour ? ink(colour) : "var(--dim)";
        const numbered = small >= ALONE && !byAction;
        if (costs) {
          const share = Math.sqrt(learned().loss[n] / most);
          const radius = Math.max(0.8, 0.46 * small * share);
          over.push(`<circle cx="${(cx + wide / 2).toFixed(1)}" cy="${(cy + tall / 2).toFixed(1)}" ` +
            `r="${radius.toFixed(2)}" style="fill: var(--costly)" stroke="#fff" stroke-width="${Math.min(1, radius / 3).toFixed(2)}"/>`);
        }
        if (small >= SIGNED) {
          const best = action(n, byAction), sign = best === NONE ? "" : signs[best];
          const size = Math.min(small * (numbered ? 0.42 : 0.62), 24, (1.5 * wide) / Math.max(sign.length, 1));
          if (sign) text(sign, cx + wide / 2, cy + tall * (numbered ? 0.46 : 0.5) + size * 0.35, size, fill);
          if (numbered && known) {
            const written = end ? `end ${short(value[n])}` : short(value[n]);
            text(written, cx + wide / 2, cy + tall * (end || !sign ? 0.58 : 0.86),
              Math.min(small * 0.24, 11, (1.6 * wide) / written.length), fill);
          } else if (end && !byAction && known) {
            text(short(value[n]), cx + wide / 2, cy + tall / 2 + 3, Math.min(small * 0.45, 11), fill);
          }
        }
        if (starts.has(n) && starts.size <= 4 && small >= SIGNED) {
          over.push(`<rect x="${cx + 1.5}" y="${cy + 1.5}" width="${wide - 3}" height="${tall - 3}" ` +
            `fill="none" stroke="${fill}" stroke-width="1.5" stroke-dasharray="3 2"/>`);
        }
      }
      const under = [...paths].map(([colour, d]) =>
        `<path d="${d}" style="fill: ${colour || "var(--soft)"}" shape-rendering="${gap ? "auto" : "crispEdges"}"/>`);
      const axes = labels(fields[x()], wide, true).map(([i, label]) =>
        `<text x="${(left + (i + 0.5) * wide).toFixed(1)}" y="${(top + rows * tall + 14).toFixed(1)}" text-anchor="middle">${escaped(label)}</text>`);
      axes.push(`<text x="${(left + (columns * wide) / 2).toFixed(1)}" y="${(top + rows * tall + 32).toFixed(1)}" text-anchor="middle">${escaped(fields[x()].name)}</text>`);
      if (y() >= 0) {
        axes.push(...labels(fields[y()], tall, false).map(([i, label]) => {
          const [, cy] = corner(i * columns);
          return `<text x="${left - 5}" y="${(cy + tall / 2 + 4).toFixed(1)}" text-anchor="end">${escaped(label)}</text>`;
        }));
        axes.push(`<text transform="translate(12 ${(top + (rows * tall) / 2).toFixed(1)}) rotate(-90)" text-anchor="middle">${escaped(fields[y()].name)}</text>`);
      }
      frame.missing = missing;
      svg.setAttribute("viewBox", `0 0 ${width.toFixed(1)} ${height.toFixed(1)}`);
      svg.style.maxWidth = `${width}px`;
      const what = byAction ? find(".second").textContent : "value";
      svg.innerHTML = `<title>${escaped(`${what} by ${fields[x()].name}${y() < 0 ? "" : ` and ${fields[y()].name}`}`)}</title>` +
        (missing ? `<path d="${hatching(left, top, columns * wide, rows * tall)}" fill="none" style="stroke: var(--dim)" stroke-width=".7" opacity=".5"/>` : "") +
        `<rect x="${left}" y="${top}" width="${columns * wide}" height="${rows * tall}" fill="none" style="stroke: var(--line)"/>` +
        `${under.join("")}${over.join("")}${axes.join("")}` +
        `<rect class="cursor" fill="none" style="stroke: var(--ink); stroke-width: 2" visibility="hidden"/>`;
    };

    const largest = () => learned().loss.reduce((a, b) => Math.max(a, b), 0);

    const swatch = (colour, words) => {
      const item = document.createElement("span"), box = document.createElement("i");
      box.style.cssText = "display: inline-block; width: .9em; height: .9em; margin-right: .4em; " +
        `vertical-align: -.1em; ${colour}`;
      item.append(box, words);
      return item;
    };
    const legend = () => {
      const both = !maps[1].closest("figure").hidden;
      const signed = Math.min(frame.wide, frame.tall) >= SIGNED;
      find(".names").replaceChildren(...data.actions.map((name, a) => [name, a])
        .filter(([, a]) => data.colours[a])
        .map(([name, a]) => {
          const words = signed && signs[a] !== name ? `${signs[a]} ${name}` : name;
          if (both) return swatch(`background: ${data.colours[a]}`, words);
          const item = document.createElement("span");
          item.textContent = words;
          return item;
        }));
      const marks = [];
      const hatched = "background: repeating-linear-gradient(45deg, var(--dim) 0 1px, transparent 1px 4px); outline: 1px solid var(--line)";
      if (frame.missing) marks.push(swatch(hatched, absent));
      if ([...grid.values()].some((n) => n >= data.states)) {
        marks.push(swatch("background: var(--soft); outline: 1px solid var(--line)",
          "the episode ends here; the number is the reward for getting there"));
      }
      if (signed && starts.size && starts.size <= 4 && [...grid.values()].some((n) => starts.has(n))) {
        marks.push(swatch("border: 2px dashed currentColor", "the start"));
      }
      if (learned()) {
        const cells = [...grid.values()].filter((n) => n < data.states && learned().loss[n] > 1e-9);
        marks.push(swatch("background: var(--costly); border-radius: 50%",
          `loses by its choice, ${cells.length} states here; area by what a visit loses, at most ${loses(largest())}`));
      }
      find(".marks").replaceChildren(...marks);
      find(".low").textContent = short(low);
      find(".high").textContent = short(high);
    };

    const describe = (n) => {
      const only = fields[0].name.replace(/^state from$| from$/, "");
      const at = data.texts.length ? told(only, data.texts[20 * fields[0].place[n] + fields[1].place[n]])
        : fields.map((field) => told(field.name, field.values[field.place[n]])).join(", ");
      if (n >= data.states) {
        return `${at}: the episode ends here${Number.isFinite(value[n]) ? `, reward ${exact(value[n])}` : ""}.`;
      }
      const own = seat(), actions = [];
      for (let i = 0; i < listed; i++) {
        const a = own.action[n * listed + i];
        if (a === NONE) continue;
        const chance = own.chance && own.chance[n * listed + i] > 5e-4
          ? ` (${(100 * own.chance[n * listed + i]).toFixed(1)}%)` : "";
        const tie = i > 0 && i < own.tied[n] && !own.chance ? " (as good)" : "";
        actions.push(`${data.actions[a]}${chance} ${exact(own.value[n * listed + i])}${tie}`);
      }
      const learner = learned() && learned().chosen[n] !== NONE
        ? ` ${agents[+agent.value].name}: ${data.actions[learned().chosen[n]]}, ` +
          (learned().loss[n] > 1e-9 ? `which loses ${loses(learned().loss[n])} a visit.` : "which loses nothing.")
        : "";
      return `${at}: value ${exact(value[n])}; ${actions.join(", ")}.${learner}`;
    };

    const point = (cell) => {
      pointed = cell;
      const n = grid.get(cell);
      const name = (f, i) => told(fields[f].name, fields[f].values[i]);
      find(".pointed").textContent = n !== undefined ? describe(n)
        : `${name(x(), cell % frame.columns)}${y() < 0 ? "" : `, ${name(y(), Math.floor(cell / frame.columns))}`}: ${absent}.`;
      const [cx, cy] = corner(cell);
      for (const mark of root.querySelectorAll(".cursor")) {
        mark.setAttribute("x", cx);
        mark.setAttribute("y", cy);
        mark.setAttribute("width", frame.wide);
        mark.setAttribute("height", frame.tall);
        mark.setAttribute("visibility", "visible");
      }
    };
    const begin = () => {
      const cells = [...grid.entries()];
      if (!cells.length) { find(".pointed").textContent = "No state here can be reached."; return; }
      point((cells.find(([, n]) => starts.has(n)) || cells[0])[0]);
    };

    // The cell of a column, and of a line from the top of the picture.
    const pointAt = (column, line) => {
      if (column < 0 || column >= frame.columns || line < 0 || line >= frame.rows) return;
      point((frame.fromTop ? line : frame.rows - 1 - line) * frame.columns + column);
    };

    for (const svg of maps) {
      const follow = (event) => {
        const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
        pointAt(Math.floor((at.x - frame.left) / frame.wide), Math.floor((at.y - frame.top) / frame.tall));
      };
      svg.addEventListener("pointermove", follow);
      svg.addEventListener("pointerdown", follow);
      svg.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
        if (!step || pointed === null) return;
        event.preventDefault();
        const row = Math.floor(pointed / frame.columns);
        pointAt(pointed % frame.columns + step[0], (frame.fromTop ? row : frame.rows - 1 - row) + step[1]);
      });
    }

    fields.forEach((field, f) => {
      across.append(new Option(field.name, f));
      up.append(new Option(field.name, f));
    });
    choices.forEach((choice, i) => whose.append(new Option(choice.name, i)));
    agent.append(new Option("none", ""));
    agents.forEach(({ name }, i) => agent.append(new Option(name, i)));
    [across.value, up.value] = data.axes;
    find(".upward").hidden = fields.length < 2;
    find(".seat").hidden = choices.length < 2;
    find(".of-agents").hidden = !agents.length;
    find(".ramp").style.background = `linear-gradient(to right, ${data.scale.join(",")})`;
    const axes = (changed, other) => {
      if (fields.length > 1 && changed.value === other.value) {
        other.value = fields.findIndex((_, f) => f !== +changed.value);
      }
      fullest();
      controls();
    };
    across.addEventListener("input", () => axes(across, up));
    up.addEventListener("input", () => axes(up, across));
    find("form").addEventListener("input", () => { draw(); begin(); });
    axes(across, up);
    draw();
    begin();
  }
})();
