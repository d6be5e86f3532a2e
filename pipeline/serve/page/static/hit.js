// A hit: its place, its relevance, an excerpt, the path that led to it, and what speaks for it.
import { foreign, make, percent } from "./dom.js";
import { feedback } from "./feedback.js";
import { relation, shownSteps } from "./relations.js";

const MOST_FEATURES = 4;
const LOW = 0.3;

/** Make the list item of a hit; `open(id)` is called when it or a step of its path is chosen, with the id of that node. */
export function hitItem(item, state, open) {
  const { metadata } = item;
  const { texts, toggle } = passage(item);
  const item_ = make(
    "li", { className: "hit" },
    make("div", { className: "hit-head" }, heading(metadata, () => open(metadata.id)), relevance(metadata.relevance)),
    make("p", { className: "source" }, foreign(place(metadata))),
    make("div", { className: "passage" }, texts),
    route(metadata.evidence, open),
    lead(metadata.evidence ?? []),
    make("div", { className: "hit-foot" }, feedback(metadata, state), toggle, why(metadata)),
  );
  item_.dataset.id = metadata.id;
  return item_;
}

/** Return the title of a hit with its heading. */
export const titleOf = ({ title, document: key, heading: below }) => [title || key, below].filter(Boolean).join(" › ");

/** Return where a hit is from: the key of its document and its lines, of a document without a file its key alone. */
export function place({ path: file, document: key, line_start: first, line_end: last }) {
  return /\.(jsonl|parquet)$/.test(file ?? "") ? key : `${key}:${first}–${last}`;
}

/** Make the excerpt of a hit, the sentences that answer, with the names of its path emphasised. */
export function excerptOf({ metadata }) {
  const names = (metadata.evidence ?? []).filter((step) => step.kind === "Entity").map((step) => step.name);
  return make("p", { className: "excerpt", dir: "auto" }, marked(metadata.excerpt, names));
}

/** Return a text in parts, with the names in it emphasised. */
function marked(text, names) {
  const wanted = names.filter((name) => name.length > 1).map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  if (!wanted.length) return [text];
  return text.split(new RegExp(`((?<![\\p{L}\\p{N}])(?:${wanted.join("|")})(?![\\p{L}\\p{N}]))`, "giu")).map((part, place_) => (place_ % 2 ? make("mark", {}, part) : part));
}

/** Make the sign of a hit's relevance, between 0 and 1; nothing where the service doesn't tell it. */
function relevance(value) {
  if (typeof value !== "number") return null;
  const bar = make("span", { className: "meter" }, make("span", {}));
  bar.firstChild.style.width = percent(value);
  return make("span", { className: `relevance${value < LOW ? " low" : ""}`, title: "How likely the passage speaks to the question" }, bar, make("span", {}, `${percent(value)} relevant`));
}

function heading(metadata, open) {
  const button = make(
    "button", { type: "button", className: "open", onclick: open },
    make("span", { className: "rank" }, String(metadata.rank)), foreign(titleOf(metadata)),
  );
  return make("h2", {}, button);
}

/** Make the excerpt of a hit and its whole text, and the button that changes from one to the other. */
function passage(item) {
  const short = excerptOf(item);
  const whole = make("p", { className: "whole", dir: "auto", hidden: true }, item.content.trim());
  const toggle = make("button", { type: "button", className: "quiet", "aria-expanded": "false" }, "Whole passage");
  toggle.onclick = () => {
    whole.hidden = !whole.hidden;
    short.hidden = !whole.hidden;
    toggle.textContent = whole.hidden ? "Whole passage" : "Excerpt";
    toggle.setAttribute("aria-expanded", String(!whole.hidden));
  };
  return { texts: [short, whole], toggle };
}

/** Make the route that led to a hit, from the question on. */
function route(steps, open) {
  if (!steps?.length) return make("p", { className: "path-none" }, "No path of up to eight steps from a seed.");
  const shown = shownSteps(steps);
  if (!shown.some((step) => step.id)) return make("p", { className: "path-none" }, `Found by ${shown[0].name}.`);
  const stops = shown.map((step, index) => {
    const way = index > 0 ? relation(step.by, shown[index - 1].kind) : step.kind === "Entity" ? "the question names" : step.id ? "the question finds" : "the question finds by";
    return make("li", {}, make("span", { className: "relation" }, index > 0 && !shown[index - 1].id ? "to" : way), chip(step, open));
  });
  return make("ol", { className: "path", "aria-label": "Path to the hit" }, stops);
}

/** Make the sentence of another passage on the path that leads to this hit, because it names what comes next. */
function lead(steps) {
  const place_ = steps.slice(0, -1).findLastIndex(({ sentence }) => sentence);
  if (place_ < 0) return null;
  const names = [steps[place_ - 1], steps[place_ + 1]].filter(Boolean).map(({ name }) => name);
  return make("p", { className: "lead", dir: "auto" }, marked(steps[place_].sentence, names), " ", make("cite", {}, foreign(steps[place_].name)));
}

function chip(step, open) {
  if (!step.id) return make("span", { className: "chip seed" }, step.name);
  const kind = step.kind.toLowerCase();
  return make(
    "button", { type: "button", className: `chip ${kind}`, title: step.name, onclick: () => open(step.id) },
    make("span", { className: `dot ${kind}` }), foreign(step.name),
  );
}

/** Make the details of a hit's rank: its place in each ranking, and the features that speak for it. */
function why({ legs: found, features }) {
  const rows = Object.entries(found).map(([name, { rank }]) => make("li", {}, make("span", { className: "name" }, name), " ", make("span", { className: "place" }, `#${rank}`)));
  const speaking = Object.entries(features ?? {}).filter(([, value]) => value > 0).sort(([, a], [, b]) => b - a).slice(0, MOST_FEATURES);
  const words = speaking.map(([name, value]) => `${name.replaceAll("_", " ")} +${value.toPrecision(2)}`).join(", ");
  return make(
    "details", { className: "why" },
    make("summary", {}, "Why this rank"),
    make("ul", { className: "legs", "aria-label": "Its place in each ranking" }, rows),
    words && make("p", { className: "features" }, `Speaks for it: ${words}`),
  );
}
