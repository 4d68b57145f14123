// Shows the numbers of the cell that is pointed at in the maps of football's last down.
(() => {
  "use strict";
  for (const root of document.querySelectorAll(".football-map")) {
    const data = JSON.parse(root.querySelector("script").textContent);
    const bytes = Uint8Array.from(atob(data.numbers), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer), [wide, high] = data.shape;
    const number = (layer, x, y) => {
      const found = view.getInt16(2 * ((layer * wide + x) * high + y), true);
      return found === data.unknown ? null : found * data.step;
    };
    const points = (value) => (value < 0 ? "−" : "") + Math.abs(value).toFixed(3);
    const output = root.querySelector(".pointed");
    for (const svg of root.querySelectorAll("svg")) {
      svg.addEventListener("pointermove", (event) => {
        const at = new DOMPoint(event.clientX, event.clientY)
          .matrixTransform(svg.getScreenCTM().inverse());
        const x = Math.floor(((at.x - data.frame.left) / data.frame.wide) * wide);
        const y = Math.floor((1 - (at.y - data.frame.top) / data.frame.high) * high);
        const toGoal = data.field - 1 - x;
        if (x < 0 || x >= wide || y < 0 || y >= high || y + 1 > toGoal) return;
        const line = x + 1 < toGoal ? `its own ${x + 1}` : `the other's ${toGoal}`;
        const share = (layer, what) => {
          const chance = number(layer, x, y);
          return chance === null ? "" : ` (${(100 * chance).toFixed(1)}% ${what})`;
        };
        const ways = [
          ["normal call", share(3, "quick kicks")], ["punt formation", share(4, "fakes")],
          ["field goal", ""],
        ].map(([name, mixed], layer) => [number(layer, x, y), name, mixed])
          .filter(([value]) => value !== null)
          .sort(([a], [b]) => b - a)
          .map(([value, name, mixed]) => `${name} ${points(value)}${mixed}`);
        output.textContent = `${data.down} and ${y + 1 === toGoal ? "goal" : y + 1} at ${line}: ` +
          `${ways.join(", ")}.`;
      });
    }
  }
})();
