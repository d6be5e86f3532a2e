// Two legs side by side: the same question, and how far each hit is up or down in the other.
import { isShown, search } from "./api.js";
import { at, failure, foreign, make, plural } from "./dom.js";
import { excerptOf, place, titleOf } from "./hit.js";
import { LEGS } from "./legs.js";
import { link } from "./route.js";

const HITS = 10;

let asked = "";
let running = new AbortController();

/** Show the comparison for a state; asks only if something changed. */
export async function showCompare(state) {
  const key = JSON.stringify([state.corpus, state.q, state.left, state.right]);
  if (key === asked) return;
  asked = key;
  await compareAgain(state);
}

/** Ask again. */
export async function compareAgain(state) {
  running.abort();
  running = new AbortController();
  if (!state.q.trim() || !state.corpus) {
    show("", []);
    return;
  }
  const sides = [state.left, state.right];
  at("columns").classList.add("stale");
  try {
    const found = await Promise.all(sides.map((leg) => ranked(state, leg, running.signal)));
    show(summary(sides, found), sides.map((leg, side) => column(state, leg, found[side], sides[1 - side], found[1 - side])));
  } catch (error) {
    if (!isShown(error)) show("", [failure(error)]);
  }
}

async function ranked({ q, corpus }, leg, signal) {
  return (await search({ query: q, corpus, leg, top_k: HITS, explain: true }, signal)).items;
}

function show(words, columns) {
  at("compare-summary").textContent = words;
  at("columns").classList.remove("stale");
  at("columns").replaceChildren(...columns);
}

function summary([left, right], [first, second]) {
  if (left === right) return "Both sides rank by the same leg.";
  const ids = new Set(first.map((item) => item.metadata.id));
  const both = second.filter((item) => ids.has(item.metadata.id)).length;
  return `${plural(both, "passage")} of ${Math.max(first.length, second.length)} in both.`;
}

function column(state, leg, items, otherLeg, others) {
  const ranks = new Map(others.map(({ metadata }) => [metadata.id, metadata.rank]));
  const rows = items.map((item) => row(state, leg, item, otherLeg, ranks.get(item.metadata.id)));
  return make(
    "section", { className: "column", "aria-label": `Ranked by ${leg}` },
    make("h2", {}, leg, " ", make("small", {}, LEGS[leg])),
    rows.length ? make("ol", {}, rows) : make("p", { className: "hint" }, "Nothing answers that."),
  );
}

function row(state, leg, item, otherLeg, otherRank) {
  const { metadata } = item;
  const element = make(
    "li", { className: "compared" },
    make("span", { className: "rank" }, String(metadata.rank)),
    make(
      "div", {},
      make("a", { className: "title", href: link({ ...state, view: "search", leg, hit: metadata.id }) }, foreign(titleOf(metadata))),
      make("p", { className: "source" }, foreign(place(metadata))),
      excerptOf(item),
    ),
    difference(metadata.rank, otherRank, otherLeg),
  );
  element.dataset.id = metadata.id;
  element.onmouseenter = () => mark(metadata.id, true);
  element.onmouseleave = () => mark(metadata.id, false);
  return element;
}

function difference(rank, otherRank, otherLeg) {
  if (otherRank === undefined) return badge("only", "only here", `not among the first ${HITS} of ${otherLeg}`);
  const up = otherRank - rank;
  if (up === 0) return badge("same", "=", `as in ${otherLeg}`);
  return badge(up > 0 ? "up" : "down", `${up > 0 ? "▲" : "▼"} ${Math.abs(up)}`, `${plural(Math.abs(up), "place")} ${up > 0 ? "higher" : "lower"} than in ${otherLeg}`);
}

const badge = (kind, text, title) => make("span", { className: `difference ${kind}`, title, role: "img", "aria-label": title }, text);

function mark(id, on) {
  for (const element of at("columns").querySelectorAll(".compared")) element.classList.toggle("marked", on && element.dataset.id === id);
}
