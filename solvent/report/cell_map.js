// Shows the numbers of the cell that is pointed at in a map of cells.
(() => {
  "use strict";
  for (const root of document.querySelectorAll(".cell-map")) {
    const data = JSON.parse(root.querySelector("script").textContent);
    const bytes = Uint8Array.from(atob(data.numbers), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer), wide = data.columns.length, high = data.rows.length;
    const output = root.querySelector(".pointed"), svg = root.querySelector("svg");
    svg.addEventListener("pointermove", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY)
        .matrixTransform(svg.getScreenCTM().inverse());
      const x = Math.floor(((at.x - data.frame.left) / data.frame.wide) * wide);
      const y = Math.floor((1 - (at.y - data.frame.top) / data.frame.high) * high);
      if (x < 0 || x >= wide || y < 0 || y >= high) return;
      const told = data.names.map((name, layer) => {
        const number = view.getInt16(2 * ((layer * wide + x) * high + y), true);
        const shown = (number / 10 ** data.digits).toFixed(data.digits).replace("-", "−");
        return number === data.unknown ? "" : `${name} ${shown}`;
      }).filter(Boolean);
      if (told.length) output.textContent = `${data.rows[y]} ${data.columns[x]}: ${told.join(", ")}.`;
    });
  }
})();
