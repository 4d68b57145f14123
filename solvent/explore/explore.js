// Keys, and running through the frames of an algorithm. Every page works without.
(() => {
  "use strict";
  const PAUSE = 700;
  let timer = 0;
  const writing = (at) => at.closest("input, select, textarea, [contenteditable]");
  const frame = () => document.getElementById("frame");

  const show = async (address) => {
    const answer = await fetch(address);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.getElementById("frame");
    if (!answer.ok || !found) { location.assign(address); return false; }
    frame().replaceWith(found);
    history.replaceState(null, "", address);
    const field = document.querySelector("input[name=frame]"), now = page.querySelector("input[name=frame]");
    if (field && now) field.value = now.value;
    return true;
  };
  const stop = () => { clearTimeout(timer); timer = 0; };
  const run = async () => {
    const next = document.getElementById("next");
    if (!next || !(await show(next.href))) { stop(); return; }
    if (timer) timer = setTimeout(run, PAUSE);
  };

  // What is above it stays in view, which an autofocus would scroll away.
  document.querySelector("[data-focus]")?.focus({ preventScroll: true });

  document.addEventListener("click", (event) => {
    const at = event.target.closest("#run, #frame a[data-key]");
    if (!at) return;
    event.preventDefault();
    if (at.id === "run" && !timer) { timer = setTimeout(run, 0); return; }
    stop();
    if (at.id !== "run") show(at.href);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || writing(event.target)) return;
    const of = [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === event.key);
    if (!of) return;
    event.preventDefault();
    of.click();
    if (of.tagName === "SUMMARY") of.focus();
  });
})();
