// Cuts the hold surface of Pig at one score of the opponent, and shows the numbers of a cell.
(() => {
  "use strict";
  for (const root of document.querySelectorAll(".hold-surface")) {
    const data = JSON.parse(root.querySelector("script").textContent);
    const { target } = data, { left, top, side } = data.frame, unit = side / target;
    const bytes = Uint8Array.from(atob(data.chance), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    const chance = (own, other) => view.getFloat32(4 * (own * target + other), true);
    const surface = root.querySelector("[data-surface]"), cut = root.querySelector("[data-cut]");
    const slider = root.querySelector("input"), told = root.querySelector("output");
    const pointed = root.querySelector(".pointed"), line = surface.querySelector(".chosen");
    const frame = [...surface.children]
      .filter((part) => !["g", "circle", "line"].includes(part.tagName)).map((part) => part.outerHTML);
    const holds = (own, other, total) => {
      const ends = data.holds[own][other];
      for (let i = 0; i < ends.length; i += 2) {
        if (ends[i] <= total && total <= ends[i + 1]) return true;
      }
      return false;
    };
    const when = (own, other) => {
      const ends = data.holds[own][other], parts = [];
      const largest = data.totals.filter((total) => own + total < target).pop();
      for (let i = 0; i < ends.length; i += 2) {
        const [from, to] = [ends[i], ends[i + 1]];
        parts.push(to === largest && from < to ? `${from} or more` : from === to ? from : `${from} to ${to}`);
      }
      return parts.length ? `hold at ${parts.join(" and at ")}` : "never hold";
    };
    const draw = () => {
      const other = +slider.value;
      told.value = other;
      const paths = { roll: "", hold: "" };
      for (let own = 0; own < target; own++) {
        if (!Number.isFinite(chance(own, other))) continue;
        for (const total of data.totals) {
          if (own + total >= target) break;
          paths[holds(own, other, total) ? "hold" : "roll"] +=
            `M${(left + own * unit).toFixed(2)} ${(top + side - (total + 1) * unit).toFixed(2)}` +
            `h${unit.toFixed(2)}v${unit.toFixed(2)}h${(-unit).toFixed(2)}z`;
        }
      }
      const y = top + side + 56;
      cut.innerHTML = `<title>Roll or hold at ${other} of the other</title>` +
        frame.filter((part) => part.startsWith("<path") || part.startsWith("<rect") && part.includes("grid")).join("") +
        `<path d="${paths.roll}" fill="${data.never}" shape-rendering="crispEdges"/>` +
        `<path d="${paths.hold}" fill="${data.hold}" shape-rendering="crispEdges"/>` +
        [...surface.querySelectorAll("text")].filter((part) => !part.closest("g") && +part.getAttribute("y") < top + side + 40)
          .map((part) => part.outerHTML.replace("score of the other", "turn total")).join("") +
        `<rect x="${left}" y="${y - 10}" width="12" height="12" fill="${data.never}"/><text x="${left + 17}" y="${y}">roll</text>` +
        `<rect x="${left + 70}" y="${y - 10}" width="12" height="12" fill="${data.hold}"/><text x="${left + 87}" y="${y}">hold</text>` +
        `<text x="${left + 140}" y="${y}">hatched: cannot be reached</text>`;
      line.setAttribute("y1", top + side - (other + 0.5) * unit);
      line.setAttribute("y2", top + side - (other + 0.5) * unit);
      line.setAttribute("visibility", "visible");
    };
    const tell = (own, other, total) => {
      if (!Number.isFinite(chance(own, other))) {
        pointed.textContent = `Own score ${own}, the other's ${other}: cannot be reached.`;
        return;
      }
      const now = total === undefined ? "" : own + total >= target ? ` With ${total} the turn has won.`
        : data.totals.includes(total) ? ` With ${total}: ${holds(own, other, total) ? "hold" : "roll"}.`
          : ` A total of ${total} cannot be reached.`;
      pointed.textContent = `Own score ${own}, the other's ${other}: ${when(own, other)}; ` +
        `value at the beginning of the turn ${chance(own, other).toFixed(6)}.${now}`;
    };
    const at = (svg, event) => {
      const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
      const x = Math.floor((place.x - left) / unit), y = Math.floor((top + side - place.y) / unit);
      return x < 0 || x >= target || y < 0 || y >= target ? null : [x, y];
    };
    for (const kind of ["pointermove", "pointerdown"]) {
      surface.addEventListener(kind, (event) => {
        const cell = at(surface, event);
        if (cell) tell(...cell);
      });
      cut.addEventListener(kind, (event) => {
        const cell = at(cut, event);
        if (cell) tell(cell[0], +slider.value, cell[1]);
      });
    }
    surface.addEventListener("click", (event) => {
      const cell = at(surface, event);
      if (cell) { slider.value = cell[1]; draw(); }
    });
    slider.addEventListener("input", draw);
    draw();
    tell(0, +slider.value);
  }
})();
