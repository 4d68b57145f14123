// Draws the call sheet of the situation that is set.
(() => {
  "use strict";
  const element = (name, parent, text = "", attributes = {}) => {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.textContent = text;
    parent.append(made);
    return made;
  };
  const points = (value) => (value < 0 ? "−" : "") + Math.abs(value).toFixed(3);

  for (const root of document.querySelectorAll(".football-sheets")) {
    const find = (selector) => root.querySelector(selector);
    const data = JSON.parse(find("script").textContent);
    const bytes = Uint8Array.from(atob(data.numbers), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    const lines = data.field - 1;
    const width = 1 + 2 * data.offence.length + 2 * data.defence.length;
    const down = find(".down"), distance = find(".distance"), line = find(".line");

    const draw = (table, head, names, first, number) => {
      table.replaceChildren();
      const heads = element("tr", element("thead", table));
      element("th", heads, head);
      element("th", heads, "probability", { class: "n" });
      element("th", heads, "loss", { class: "n" });
      const body = element("tbody", table);
      names.forEach((name, i) => {
        const loss = number(first + i), chance = number(first + names.length + i) * data.chance;
        if (loss < 0) return;
        const row = element("tr", body, "", chance > 0 ? {} : { class: "dim" });
        element("th", row, name, { scope: "row" });
        element("span", element("td", row, "", { class: "n" }), `${(100 * chance).toFixed(2)}%`,
          { class: "meter", style: `--share: ${chance}` });
        element("td", row, points(loss * data.point), { class: "n" });
      });
    };

    const redraw = () => {
      const toGoal = data.field - line.value, toGo = data.distances[distance.value];
      const row = (+down.value * data.distances.length + +distance.value) * lines + toGoal - 1;
      const number = (i) => view.getInt16(2 * (row * width + i), true);
      const place = +line.value < toGoal ? `its own ${line.value}` : `the other's ${toGoal}`;
      const formation = +down.value === data.downs.length - 1 ? ", punt formation" : "";
      find(".line-text").value = place;
      find(".where").textContent =
        `${data.ordinals[down.value]} and ${toGo < toGoal ? toGo : "goal"} at ${place}${formation}`;
      find(".value").textContent = points(number(0) * data.point);
      draw(find(".offence"), "offence", data.offence, 1, number);
      draw(find(".defence"), "defence", data.defence, 1 + 2 * data.offence.length, number);
    };

    data.downs.forEach((name, i) => down.append(new Option(name, i)));
    data.distances.forEach((yards, i) => distance.append(new Option(yards, i)));
    distance.value = data.distances.indexOf(data.usual);
    line.max = lines;
    line.value = data.start;
    find("form").addEventListener("input", redraw);
    redraw();
  }
})();
