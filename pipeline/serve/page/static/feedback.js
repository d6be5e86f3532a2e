// What people say of hits: kept by the service as judgements, which `hoprank tune` and `evaluate` take.
import { call, corpusPath } from "./api.js";
import { at, make } from "./dom.js";

const CHOICES = [[1, "Answers it"], [0, "Doesn't"]];

/** What was said of the documents of the question that is shown, by key; null of what was taken back. */
let said = new Map();

/** Make the two buttons by which one says whether a hit's document answers the question. */
export function feedback({ document: key }, { corpus, q }) {
  const note = make("span", { className: "hint", role: "status" });
  const buttons = CHOICES.map(([relevance, words]) => {
    const button = make("button", { type: "button", className: "say", "aria-pressed": "false", title: `Keep that ${key} ${relevance ? "answers" : "doesn't answer"} this question` }, words);
    button.dataset.relevance = relevance;
    button.onclick = () => say(note, corpus, q, key, button.getAttribute("aria-pressed") === "true" ? null : relevance);
    return button;
  });
  const group = make("span", { className: "feedback", role: "group", "aria-label": "Does it answer the question?" }, buttons, note);
  group.dataset.document = key;
  return group;
}

/** Read what was said of the hits of a question, and show it. */
export async function showSaid({ corpus, q }, signal) {
  said = new Map();
  try {
    const found = await call(corpusPath(corpus, `/judgements?${new URLSearchParams({ question: q })}`), { signal });
    // What was said meanwhile is newer.
    said = new Map([...found.map(({ document: key, relevance }) => [key, relevance > 0 ? 1 : 0]), ...said]);
  } catch {
    // Hits can be read without.
  }
  press();
}

async function say(note, corpus, question, key, relevance) {
  try {
    await call(corpusPath(corpus, "/judgements"), { method: "PUT", body: { question, document: key, relevance } });
    said.set(key, relevance);
    note.textContent = relevance === null ? "Taken back." : "Kept.";
    press();
  } catch (error) {
    note.textContent = `${error.message} ${error.fix ?? ""}`;
  }
}

function press() {
  for (const group of at("hits").querySelectorAll(".feedback")) {
    for (const button of group.querySelectorAll(".say")) {
      button.setAttribute("aria-pressed", String(said.get(group.dataset.document) === Number(button.dataset.relevance)));
    }
  }
}
