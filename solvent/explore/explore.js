// @ts-check
// Keys, pages that change in place, and waiting for work. Every page works without, by its links.
(() => {
  "use strict";
  const PAUSE = 700, POLL = 350;
  let timer = 0, waiting = 0;

  /** @param {EventTarget | null} at @param {string} selector @returns {HTMLElement | null} */
  const around = (at, selector) => /** @type {HTMLElement | null} */ (at instanceof Element ? at.closest(selector) : null);
  const writing = (/** @type {EventTarget | null} */ at) => around(at, "input, select, textarea, [contenteditable]");
  const main = () => /** @type {HTMLElement} */ (document.querySelector("main"));
  // What has scripts of its own is loaded as a whole page.
  const plain = (/** @type {Document} */ page) => page.scripts.length === 1;

  /**
   * Show a page in place of this one.
   * @param {string} address
   * @param {boolean} [push] whether the browser's back button leads here
   * @returns {Promise<void>}
   */
  const show = async (address, push = true) => {
    clearTimeout(waiting);
    const answer = await fetch(address);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.querySelector("main");
    if (!found || !plain(page) || !plain(document) || page.body.className !== document.body.className) {
      location.assign(answer.url || address);
      return;
    }
    const action = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.action : undefined;
    main().replaceWith(found);
    document.title = page.title;
    if (push) history.pushState(null, "", answer.url); else history.replaceState(null, "", answer.url);
    begin(action);
  };

  /** Prepare what has just been shown. @param {string} [action] the action that had the focus */
  const begin = (action) => {
    const focus = document.querySelector("[data-focus]") || (action && main().querySelector(`a[data-action="${action}"]`));
    // What is above it stays in view, which an autofocus would scroll away.
    if (focus instanceof HTMLElement || focus instanceof SVGElement) focus.focus({ preventScroll: true });
    if (document.querySelector("[data-poll]")) waiting = window.setTimeout(() => show(location.href, false), POLL);
    for (const list of document.querySelectorAll(".moves ol")) {
      const now = list.querySelector("[aria-current]");
      if (now instanceof HTMLElement) list.scrollTop = now.offsetTop - list.clientHeight / 2;
    }
  };

  /** Keep a die, or let it go; the button then leads to the action for all that are kept. @param {HTMLElement} die */
  const keep = (die) => {
    die.setAttribute("aria-checked", die.getAttribute("aria-checked") === "true" ? "false" : "true");
    const all = /** @type {HTMLElement} */ (die.closest(".keeps"));
    const kept = [...all.querySelectorAll(".keep[aria-checked=true]")].map((one) => /** @type {HTMLElement} */ (one).dataset.die);
    const roll = /** @type {HTMLAnchorElement} */ (all.querySelector("[data-roll]"));
    const href = JSON.parse(all.dataset.keeps || "{}")[kept.join(",")];
    roll.hidden = !href;
    if (href) roll.href = href;
  };

  const stop = () => { clearTimeout(timer); timer = 0; };
  /** Show a frame of an algorithm. @param {string} address @returns {Promise<boolean>} */
  const step = async (address) => {
    const answer = await fetch(address);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const found = page.getElementById("frame"), old = document.getElementById("frame");
    if (!answer.ok || !found || !old) { location.assign(address); return false; }
    old.replaceWith(found);
    history.replaceState(null, "", address);
    const field = /** @type {HTMLInputElement | null} */ (document.querySelector("input[name=frame]"));
    const now = /** @type {HTMLInputElement | null} */ (page.querySelector("input[name=frame]"));
    if (field && now) field.value = now.value;
    return true;
  };
  const run = async () => {
    const next = /** @type {HTMLAnchorElement | null} */ (document.getElementById("next"));
    if (!next || !(await step(next.href))) { stop(); return; }
    if (timer) timer = window.setTimeout(run, PAUSE);
  };

  document.addEventListener("input", ({ target }) => {
    const output = target instanceof HTMLInputElement && target.type === "range" && target.nextElementSibling;
    if (output) output.textContent = target.value;
  });
  document.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    const die = around(event.target, ".keep");
    if (die) { keep(die); return; }
    const more = around(event.target, "[data-more]");
    if (more) {
      /** @type {Element} */ (more.closest("tbody")).nextElementSibling?.classList.add("open");
      /** @type {Element} */ (more.closest("tbody")).remove();
      return;
    }
    const frame = around(event.target, "#run, #frame a[data-key]");
    if (frame) {
      event.preventDefault();
      if (frame.id === "run" && !timer) { timer = window.setTimeout(run, 0); return; }
      stop();
      if (frame instanceof HTMLAnchorElement) step(frame.href);
      return;
    }
    const at = event.target instanceof Element ? event.target.closest("main a[href]") : null;
    const href = at && at.getAttribute("href");
    if (!at || !href || !href.startsWith("/board") || document.body.className !== "page-board") return;
    event.preventDefault();
    show(href);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || writing(event.target)) return;
    const die = around(event.target, ".keep");
    if (die && (event.key === " " || event.key === "Enter")) { event.preventDefault(); keep(die); return; }
    if (event.key.startsWith("Arrow") && around(event.target, "svg[tabindex]")) return;
    if (event.key === "Enter" && around(event.target, "a, button, summary")) return;
    const of = /** @type {HTMLElement[]} */ ([...document.querySelectorAll("[data-key]")]).find((one) => one.dataset.key === event.key);
    if (!of) return;
    event.preventDefault();
    of.click();
    if (of.tagName === "SUMMARY") of.focus();
  });
  window.addEventListener("popstate", () => { if (document.body.className === "page-board") show(location.href, false); });
  begin();
})();
