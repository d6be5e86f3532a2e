// Search as you type: the question, the hits, and the graph around the one that is open.
import { call, isShown } from "./api.js";
import { at, empty, failure, make, percent, plural } from "./dom.js";
import { hitItem } from "./hit.js";
import { closeMap, openMap } from "./map.js";
import { change } from "./route.js";

const FIRST = 10;
const STEP = 10;
const MOST = 100;

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
    show([], state, state.corpus ? "" : null);
    return;
  }
  at("hits").classList.add("stale");
  const body = { query: state.q, corpus: state.corpus, leg: state.leg, top_k: wanted, explain: true };
  const start = performance.now();
  try {
    const result = await call("v1/search", { method: "POST", body, signal });
    show(result.items, state, summary(result, performance.now() - start));
  } catch (error) {
    if (isShown(error)) return;
    at("search-summary").textContent = "";
    at("hits").classList.remove("stale");
    at("hits").replaceChildren(make("li", {}, failure(error)));
    at("more").hidden = true;
  }
}

function show(found, state, words) {
  items = found;
  at("hits").classList.remove("stale");
  at("search-summary").textContent = words ?? "";
  at("hits").replaceChildren(...found.map((item) => hitItem(item, state.q, found, (node) => open(state.corpus, item, node))));
  if (words && !found.length) at("hits").append(make("li", {}, nothing(state)));
  at("more").hidden = found.length < wanted || wanted >= MOST;
  showOpen(state);
}

function nothing({ leg }) {
  return empty("Nothing in this corpus answers that.", leg === "hoprank" ? "Ask in other words." : "Ask in other words, or by another leg.");
}

function summary({ items: found, metadata }, milliseconds) {
  const names = Object.entries(metadata.name_confidences ?? {}).map(([name, sure]) => `${name} (${percent(sure)} sure)`);
  return [
    `${plural(found.length, "hit")} in ${Math.round(milliseconds)} ms`,
    names.length ? `names: ${names.join(", ")}` : "no names that the corpus knows",
    metadata.graph_share !== undefined && `the graph decides ${percent(metadata.graph_share)} of the order`,
    ...(metadata.warnings ?? []),
  ].filter(Boolean).join(" · ");
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
