// Search as you type: the question, the hits, and the graph around the one that is open.
import { closeAnswer, offerAnswer } from "./answer.js";
import { isShown, search as find } from "./api.js";
import { at, empty, failure, make, plural } from "./dom.js";
import { showSaid } from "./feedback.js";
import { hitItem } from "./hit.js";
import { closeMap, openMap } from "./map.js";
import { change } from "./route.js";

const FIRST = 10;
const STEP = 10;
const MOST = 100;
const SLOW = 1;
const SKELETONS = 3;

let asked = "";
let running = new AbortController();
let wanted = FIRST;
let items = [];

/** Show the search for a state; asks only if something changed. */
export async function showSearch(state) {
  const key = JSON.stringify([state.corpus, state.q, state.leg]);
  if (key !== asked) {
    asked = key;
    wanted = FIRST;
    await search(state);
  } else {
    showOpen(state);
  }
}

/** Ask again, and say nothing if nothing was asked. */
export async function searchAgain(state) {
  await search(state);
}

/** Show more hits of the same question. */
export async function showMore(state) {
  wanted = Math.min(wanted + STEP, MOST);
  await search(state);
}

/** Move the focus by `step` hits; from the question to the first. */
export function moveFocus(step) {
  const buttons = [...at("hits").querySelectorAll(".open")];
  const here = buttons.findIndex((button) => button.closest("li").contains(document.activeElement));
  const next = buttons[here < 0 ? (step > 0 ? 0 : -1) : here + step];
  next?.focus();
  next?.closest("li").scrollIntoView({ block: "nearest" });
}

/** Close the graph, and give the focus back to its hit. */
export function closeHit(state) {
  const hit = itemOf(state.hit);
  change({ hit: "" });
  hit?.querySelector(".open").focus();
}

async function search(state) {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  if (!state.q.trim() || !state.corpus) {
    closeAnswer();
    show([], state, state.corpus ? "" : null);
    return;
  }
  const done = waiting(signal);
  const body = { query: state.q, corpus: state.corpus, leg: state.leg, top_k: wanted, explain: true };
  const start = performance.now();
  try {
    const result = await find(body, signal);
    done();
    show(result.items, state, summary(result, performance.now() - start), result.metadata.warnings);
    offerAnswer(state, (chunks) => goTo(chunks));
    if (result.items.length) showSaid(state, signal);
  } catch (error) {
    done();
    if (isShown(error)) return;
    at("search-summary").textContent = "";
    at("hits").replaceChildren(make("li", {}, failure(error)));
    at("more").hidden = true;
  }
}

/** Show at once that a search runs, and how long it has; return what ends that. */
function waiting(signal) {
  const start = performance.now();
  const told = () => {
    const seconds = (performance.now() - start) / 1000;
    at("search-summary").textContent = seconds < SLOW ? "Searching …" : `Searching … ${seconds.toFixed(1)} s. The first search takes longest: the model is loaded.`;
  };
  at("search").setAttribute("aria-busy", "true");
  if (at("hits").querySelector(".hit")) at("hits").classList.add("stale");
  else at("hits").replaceChildren(...Array.from({ length: SKELETONS }, skeleton));
  const timer = setInterval(told, 200);
  if (!at("hits").querySelector(".hit")) told();
  const done = () => {
    clearInterval(timer);
    at("hits").classList.remove("stale");
    at("search").removeAttribute("aria-busy");
    for (const one of at("hits").querySelectorAll(".skeleton")) one.remove();
  };
  signal.addEventListener("abort", done);
  return done;
}

const skeleton = () => make("li", { className: "hit skeleton", "aria-hidden": "true" }, make("span", {}), make("span", {}), make("span", {}));

/** Move the focus to the hit that is one of these passages; return whether there is one. */
function goTo(chunks) {
  const hit = chunks.map(itemOf).find(Boolean);
  hit?.querySelector(".open").focus();
  hit?.scrollIntoView({ block: "center" });
  return Boolean(hit);
}

function show(found, state, words, warnings = []) {
  items = found;
  at("search-summary").textContent = words ?? "";
  at("search-notice").replaceChildren(...warnings.map((warning) => make("p", { className: "note" }, warning)));
  at("hits").replaceChildren(...found.map((item) => hitItem(item, state, (node) => open(state.corpus, item, node))));
  if (words && !found.length) at("hits").append(make("li", {}, nothing(state)));
  at("more").hidden = found.length < wanted || wanted >= MOST;
  showOpen(state);
}

function nothing({ leg }) {
  return empty("Nothing in this corpus answers that.", leg === "hoprank" ? "Ask in other words." : "Ask in other words, or by another leg.");
}

function summary({ items: found, metadata }, milliseconds) {
  const names = Object.keys(metadata.name_confidences ?? {});
  return `${plural(found.length, "hit")} in ${milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`} · ${names.length ? `names in the question: ${names.join(", ")}` : "no names that the corpus knows"}`;
}

function open(corpus, item, node) {
  openMap(corpus, item, node);
  change({ hit: item.metadata.id }, { push: true });
  at("map").focus({ preventScroll: true });
}

function showOpen({ corpus, hit }) {
  for (const element of at("hits").children) element.classList.toggle("chosen", Boolean(hit) && element.dataset.id === hit);
  const item = items.find((one) => one.metadata.id === hit);
  if (item) openMap(corpus, item);
  else closeMap();
}

const itemOf = (id) => [...at("hits").children].find((element) => element.dataset.id === id);
