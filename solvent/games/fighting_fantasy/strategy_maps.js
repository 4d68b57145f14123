// Draws the strategy maps of each task from the numbers embedded beside them.
(() => {
  "use strict";
  const CELL = 18, LEFT = 36, BOTTOM = 38, NAME = 152, ABSENT = 65535;
  const SVG = "http://www.w3.org/2000/svg";

  const element = (name, attributes, parent) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    parent.append(made);
    return made;
  };
  const text = (content, x, y, anchor, parent) => {
    const made = element("text", { x, y, "text-anchor": anchor }, parent);
    made.textContent = content;
    return made;
  };
  const unpack = ({ values, codes, name, losses, largest }) => {
    const bytes = Uint8Array.from(atob(values), (c) => c.charCodeAt(0));
    const shares = new Uint16Array(bytes.length / 2);
    shares.forEach((_, i) => { shares[i] = bytes[2 * i] + 256 * bytes[2 * i + 1]; });
    const lost = losses && Uint8Array.from(atob(losses), (c) => c.charCodeAt(0));
    return { shares, codes, name, lost, largest };
  };
  const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const colour = (scale, share) => {
    const place = share * (scale.length - 1);
    const below = Math.min(Math.floor(place), scale.length - 2);
    const [low, high] = [channels(scale[below]), channels(scale[below + 1])];
    return low.map((a, i) => Math.round(a + (high[i] - a) * (place - below)));
  };
  const ink = ([r, g, b]) => (0.299 * r + 0.587 * g + 0.114 * b > 140 ? "#000" : "#fff");
  const percent = (share) => `${(100 * share).toFixed(2)}%`;
  const signed = (number) => (number < 0 ? "−" : number > 0 ? "+" : "") + Math.abs(number);
  const WORDS = ["never", "after every round", "after lost rounds", "after won rounds"];

  for (const root of document.querySelectorAll(".strategy-maps")) {
    const find = (selector) => root.querySelector(selector);
    const data = JSON.parse(find("script").textContent);
    const [, lucks, heroes, opponents] = data.shape;
    const optimal = unpack(data.optimal);
    const learned = data.learned.map(unpack);
    const agent = find(".agent"), luck = find(".luck"), difference = find(".difference");

    const at = (hero, opponent) =>
      ((+difference.value * lucks + +luck.value) * heroes + hero - 1) * opponents + opponent - 1;
    const share = (map, cell) => map.shares[cell] / (ABSENT - 1);
    // The LUCK at which play reaches most cells, the highest of those.
    const fullest = () => {
      const counts = Array.from({ length: lucks }, (_, l) => {
        luck.value = l;
        const first = at(1, 1);
        return optimal.shares.subarray(first, first + heroes * opponents)
          .reduce((n, value) => n + (value !== ABSENT), 0);
      });
      return counts.lastIndexOf(Math.max(...counts));
    };
    const describe = (hero, opponent) => {
      const cell = at(hero, opponent), map = learned[agent.value];
      const best = `Hero ${hero}, opponent ${opponent}: optimal ` +
        `${percent(share(optimal, cell))}, tests LUCK ${WORDS[optimal.codes[cell]]}.`;
      if (!map) return best;
      const own = share(map, cell);
      const code = parseInt(map.codes[cell], 16);
      const loss = code > 7 ? `, which loses ${percent((map.largest * map.lost[cell]) / 255)} a visit` : "";
      return `${best} ${map.name}: ${percent(own)}, tests LUCK ${WORDS[code & 3]}${loss}.`;
    };

    const draw = (svg, map) => {
      svg.replaceChildren();
      const bottom = heroes * CELL;
      const width = Math.max(LEFT + opponents * CELL + 4, NAME);
      svg.setAttribute("viewBox", `0 0 ${width} ${bottom + BOTTOM}`);
      svg.style.maxWidth = `${1.5 * width}px`;
      const frames = [];
      for (let hero = 1; hero <= heroes; hero++) {
        for (let opponent = 1; opponent <= opponents; opponent++) {
          const cell = at(hero, opponent);
          const x = LEFT + (opponent - 1) * CELL, y = bottom - hero * CELL;
          if (map.shares[cell] === ABSENT) {
            element("rect", { x, y, width: CELL, height: CELL, class: "absent" }, svg);
            continue;
          }
          const code = parseInt(map.codes[cell], 16), rgb = colour(data.colours, share(map, cell));
          const rect = element("rect",
            { x, y, width: CELL, height: CELL, fill: `rgb(${rgb})` }, svg);
          rect.dataset.hero = hero;
          rect.dataset.opponent = opponent;
          if (code & 3) {
            const digit = text(code & 3, x + CELL / 2, y + CELL - 5, "middle", svg);
            digit.style.fill = ink(rgb);
          }
          if (code > 7) frames.push([x, y, "costly", 1 + 3 * Math.sqrt(map.lost[cell] / 255)]);
          else if (code > 3) frames.push([x, y, "tied", 1.2]);
        }
      }
      for (const [x, y, kind, wide] of frames) {
        const inset = wide / 2, size = CELL - wide;
        const place = { x: x + inset, y: y + inset, width: size, height: size };
        element("rect", { ...place, class: "halo", style: `stroke-width: ${wide + 0.8}` }, svg);
        element("rect", { ...place, class: kind, style: `stroke-width: ${wide}` }, svg);
      }
      for (let hero = 1; hero <= heroes; hero++) {
        if (hero === 1 || hero % 2 === 0) {
          text(hero, LEFT - 5, bottom - hero * CELL + CELL - 5, "end", svg);
        }
      }
      for (let opponent = 1; opponent <= opponents; opponent++) {
        if (opponent === 1 || opponent % 2 === 0) {
          text(opponent, LEFT + (opponent - 0.5) * CELL, bottom + 14, "middle", svg);
        }
      }
      text("opponent's STAMINA", LEFT + (opponents * CELL) / 2, bottom + 31, "middle", svg);
      const side = text("hero's STAMINA", 0, 0, "middle", svg);
      side.setAttribute("transform", `translate(12 ${bottom / 2}) rotate(-90)`);
      const title = document.createElementNS(SVG, "title");
      title.textContent = `Strategy map of ${map.name ?? "optimal play"} at LUCK ${luck.value}`;
      svg.prepend(title);
    };

    const count = (map) => {
      let present = 0, tied = 0, costly = 0, worst = 0, where = "";
      for (let hero = 1; hero <= heroes; hero++) {
        for (let opponent = 1; opponent <= opponents; opponent++) {
          const cell = at(hero, opponent);
          if (map.shares[cell] === ABSENT) continue;
          present += 1;
          const code = parseInt(map.codes[cell], 16);
          if (code > 7) costly += 1; else if (code > 3) tied += 1;
          const lost = share(optimal, cell) - share(map, cell);
          if (lost > worst) {
            worst = lost;
            where = ` At most ${percent(lost)} is lost from here on, at hero ${hero}, opponent ${opponent}.`;
          }
        }
      }
      return `Of ${present} cells, ${costly} differ and lose by it, ${tied} differ and are as good.${where}`;
    };

    const redraw = () => {
      const first = at(1, 1);
      find(".unreached").hidden = !optimal.shares.subarray(first, first + heroes * opponents)
        .includes(ABSENT);
      const map = learned[agent.value];
      find(".luck-text").value = luck.value;
      find(".difference-text").value = signed(data.differences[difference.value]);
      const where = `LUCK ${luck.value}, skill difference ${signed(data.differences[difference.value])}`;
      find(".optimal-name").textContent = `Optimal at ${where}`;
      draw(find(".optimal"), optimal);
      if (!map) return;
      find(".learned-name").textContent = `Learned by ${map.name}, at the same`;
      draw(find(".learned"), map);
      find(".summary").textContent = count(map);
    };
    learned.forEach(({ name }, i) => agent.append(new Option(name, i)));
    for (const part of root.querySelectorAll(".of-agents")) part.hidden = !learned.length;
    luck.max = lucks - 1;
    difference.max = data.differences.length - 1;
    const even = data.differences.map(Math.abs);
    difference.value = even.indexOf(Math.min(...even));
    luck.value = fullest();
    find(".difference-control").hidden = data.differences.length === 1;
    find(".ramp").style.background = `linear-gradient(to right, ${data.colours.join(",")})`;
    find("form").addEventListener("input", redraw);
    root.addEventListener("pointerover", ({ target }) => {
      if (target.dataset && target.dataset.hero) {
        find(".pointed").textContent = describe(+target.dataset.hero, +target.dataset.opponent);
      }
    });
    redraw();
  }
})();
