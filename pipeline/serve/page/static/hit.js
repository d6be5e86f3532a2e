// A hit: its place, an excerpt, the path that led to it, and the legs that found it.
import { foreign, make, percent } from "./dom.js";
import { bridgeOf, excerpt } from "./excerpt.js";
import { relation, shownSteps } from "./relations.js";

const MOST_FEATURES = 4;

/**
 * Make the list item of a hit; `items` are all hits. `open(id)` is called when the hit or a step of its path is chosen,
 * with the id of that node.
 */
export function hitItem(item, question, items, open) {
  const { metadata } = item;
  const item_ = make(
    "li", { className: "hit" },
    heading(metadata, () => open(metadata.id)),
    make("p", { className: "source" }, foreign(place(metadata))),
    passage(item, question),
    path(metadata.evidence, open),
    lead(metadata.evidence ?? [], items),
    legs(metadata),
  );
  item_.dataset.id = metadata.id;
  return item_;
}

/** Return the title of a hit with its heading. */
export const titleOf = ({ title, document: key, heading: below }) => [title || key, below].filter(Boolean).join(" › ");

/** Return where a hit is from: its file and lines, or its id and the .jsonl file that holds it. */
export function place({ path: file, document: key, line_start: first, line_end: last }) {
  if (file?.endsWith(".jsonl")) return `${key} in ${file}`;
  return `${file || key}:${first}–${last}`;
}

/** Make the excerpt of a hit, with the sentence emphasised that ties it to its path or to the question. */
export function excerptOf({ content, metadata }, question) {
  const { before, sentence, after } = excerpt(content, question, bridgeOf(metadata.evidence ?? []));
  return make("p", { className: "excerpt", dir: "auto" }, before, sentence && make("mark", {}, sentence), after);
}

function heading(metadata, open) {
  const button = make(
    "button", { type: "button", className: "open", onclick: open },
    make("span", { className: "rank" }, String(metadata.rank)), foreign(titleOf(metadata)),
  );
  return make("h2", {}, button);
}

function passage(item, question) {
  const short = excerptOf(item, question);
  const whole = make("p", { className: "whole", dir: "auto", hidden: true }, item.content.trim());
  const toggle = make("button", { type: "button", className: "quiet", "aria-expanded": "false" }, "Whole passage");
  toggle.onclick = () => {
    whole.hidden = !whole.hidden;
    short.hidden = !whole.hidden;
    toggle.textContent = whole.hidden ? "Whole passage" : "Excerpt";
    toggle.setAttribute("aria-expanded", String(!whole.hidden));
  };
  return make("div", { className: "passage" }, short, whole, toggle);
}

function path(steps, open) {
  if (!steps?.length) return make("p", { className: "path-none" }, "No path of up to eight steps from a seed.");
  const chips = shownSteps(steps).map((step, index, shown) =>
    make(
      "li", {},
      index > 0 && make("span", { className: "relation" }, relation(step.by, shown[index - 1].kind)),
      chip(step, open),
    ),
  );
  return make("ol", { className: "path", "aria-label": "Path to the hit" }, chips);
}

/** Make the sentence of another hit that leads to this one, because it names or links this one's document. */
function lead(steps, items) {
  const place = steps.findLastIndex(({ by }) => by === "REFERS_TO" || by === "LINKS_TO");
  const from = items.find(({ metadata }) => metadata.id === steps[place - 1]?.id);
  const { sentence } = from ? excerpt(from.content, "", steps[place].name) : {};
  if (!sentence) return null;
  return make("p", { className: "lead", dir: "auto" }, make("mark", {}, sentence), " ", make("cite", {}, foreign(titleOf(from.metadata))));
}

function chip(step, open) {
  if (!step.id) return make("span", { className: "chip seed" }, `found by ${step.name}`);
  const kind = step.kind.toLowerCase();
  return make(
    "button", { type: "button", className: `chip ${kind}`, title: step.name, onclick: () => open(step.id) },
    make("span", { className: `dot ${kind}` }), foreign(step.name),
  );
}

function legs({ legs: found, features = {} }) {
  const rows = Object.entries(found).map(([name, { rank, share }]) => leg(name, rank, share));
  const speaking = Object.entries(features).filter(([, value]) => value > 0).sort(([, a], [, b]) => b - a).slice(0, MOST_FEATURES);
  const words = speaking.map(([name, value]) => `${name.replaceAll("_", " ")} +${value.toPrecision(2)}`).join(", ");
  return make(
    "div", { className: "why" },
    make("ul", { className: "legs", "aria-label": "Legs that found it" }, rows),
    words && make("p", { className: "features" }, `Speaks for it: ${words}`),
  );
}

function leg(name, rank, share) {
  const bar = make("span", { className: "share" }, make("span", {}));
  bar.firstChild.style.width = percent(share);
  // Vector, full text and graph count through another leg, whose share includes theirs.
  const counted = share > 0;
  return make(
    "li", { className: counted ? "counted" : "" },
    make("span", { className: "name" }, name),
    make("span", { className: "place" }, `#${rank}`),
    counted && bar,
    counted && make("span", { className: "percent" }, percent(share)),
  );
}
