// Shows the numbers of the cell that is pointed at in the maps of Greed.
(() => {
  "use strict";
  const unpack = (text) => {
    const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return (i) => bytes[2 * i] + 256 * bytes[2 * i + 1];
  };
  for (const root of document.querySelectorAll(".greed-maps")) {
    const data = JSON.parse(root.querySelector("script").textContent);
    const dice = unpack(data.dice), rating = unpack(data.rating);
    const output = root.querySelector(".pointed");
    for (const svg of root.querySelectorAll("svg")) {
      svg.addEventListener("pointermove", (event) => {
        const at = new DOMPoint(event.clientX, event.clientY)
          .matrixTransform(svg.getScreenCTM().inverse());
        const mine = Math.floor(((at.x - data.left) / data.side) * data.cells);
        const other = Math.floor((1 - (at.y - data.top) / data.side) * data.cells);
        if (Math.min(mine, other) < 0 || Math.max(mine, other) >= data.cells) return;
        const cell = mine * data.cells + other, n = dice(cell);
        const roll = n === 0 ? "stand" : n === 1 ? "roll 1 die" : `roll ${n} dice`;
        output.textContent = `Own score ${mine * data.step}, the other's ${other * data.step}: ` +
          `${roll}, rating ${(rating(cell) / 65535).toFixed(4)}.`;
      });
    }
  }
})();
