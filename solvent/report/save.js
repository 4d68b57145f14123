// Every chart can be saved as a picture that stands alone: its styles are written into it.
(() => {
  const INHERITED = ["color", "fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap",
    "stroke-linejoin", "font-size", "font-weight", "text-anchor", "shape-rendering", "visibility"];
  const OWN = { opacity: "1", display: "inline" };
  const copied = (from, parent) => {
    const to = from.cloneNode(false);
    const style = getComputedStyle(from), above = parent && getComputedStyle(parent);
    to.removeAttribute("class");
    to.removeAttribute("style");
    for (const name of INHERITED)
      if (!above || from.hasAttribute(name) || style[name] !== above[name])
        to.setAttribute(name, style[name]);
    for (const name in OWN) {
      const value = style[name] === "block" ? "inline" : style[name];
      if (value !== OWN[name]) to.setAttribute(name, value);
    }
    for (const child of from.childNodes) {
      if (child.nodeType === Node.ELEMENT_NODE)
        to.append(child.namespaceURI === from.namespaceURI && child.localName !== "title"
          ? copied(child, from) : child.cloneNode(true));
      else to.append(child.cloneNode());
    }
    return to;
  };
  const alone = (chart) => {
    const svg = copied(chart, null), [x, y, width, height] = svg.getAttribute("viewBox").split(/[ ,]+/);
    const paper = document.createElementNS(svg.namespaceURI, "rect");
    for (const [name, value] of Object.entries({ x, y, width, height }))
      paper.setAttribute(name, value);
    paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
    paper.setAttribute("stroke", "none");
    svg.prepend(paper);
    svg.setAttribute("xmlns", svg.namespaceURI);
    svg.setAttribute("width", width);
    svg.setAttribute("height", height);
    svg.setAttribute("font-family", getComputedStyle(document.body).fontFamily);
    return { text: new XMLSerializer().serializeToString(svg), width: +width, height: +height };
  };
  const download = (blob, name) => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  };
  const save = {
    SVG: (chart, name) =>
      download(new Blob([alone(chart).text], { type: "image/svg+xml" }), name + ".svg"),
    PNG: (chart, name) => {
      const { text, width, height } = alone(chart), scale = Math.max(2, 1200 / width);
      const image = new Image(), canvas = document.createElement("canvas");
      canvas.width = width * scale;
      canvas.height = height * scale;
      image.onload = () => {
        canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
        canvas.toBlob((blob) => download(blob, name + ".png"));
      };
      image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(text);
    },
  };
  const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
  const charts = [...document.querySelectorAll("svg.chart")];
  charts.forEach((chart, number) => {
    const line = document.createElement("p");
    line.className = "save";
    for (const kind in save) {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = kind;
      button.title = "Save this figure as " + kind;
      button.onclick = () => {
        const title = chart.querySelector("title"), task = chart.closest("section[id]");
        const name = slug(title ? title.textContent : "figure " + (number + 1));
        const of = task ? slug(task.id) : "";
        save[kind](chart, name.includes(of) ? name : of + "-" + name);
      };
      line.append(button);
    }
    chart.after(line);
  });
})();
