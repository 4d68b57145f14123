// Shows the numbers of the cell that is pointed at in the maps over time and score.
(() => {
  "use strict";
  for (const root of document.querySelectorAll(".clock-map")) {
    const data = JSON.parse(root.querySelector("script").textContent);
    const bytes = Uint8Array.from(atob(data.numbers), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer), [wide, high] = data.shape;
    const output = root.querySelector(".pointed"), svg = root.querySelector("svg");
    svg.addEventListener("pointermove", (event) => {
      const at = new DOMPoint(event.clientX, event.clientY)
        .matrixTransform(svg.getScreenCTM().inverse());
      const x = Math.floor(((at.x - data.frame.left) / data.frame.wide) * wide);
      const y = Math.floor((1 - (at.y - data.frame.top) / data.frame.high) * high);
      if (x < 0 || x >= wide || y < 0 || y >= high) return;
      const ticks = wide - x, seconds = ticks * data.tick, lead = y - data.lead;
      const time = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
      const score = lead ? `${Math.abs(lead)} ${lead > 0 ? "ahead" : "behind"}` : "tied";
      const told = data.names.map((name, layer) => {
        const number = view.getInt16(2 * ((layer * wide + ticks - 1) * high + y), true);
        return number === data.unknown ? "" : `${name} ${(100 * number * data.step).toFixed(2)}%`;
      }).filter(Boolean);
      output.textContent = `${time} left, ${score}: ${told.join(", ")}.`;
    });
  }
})();
