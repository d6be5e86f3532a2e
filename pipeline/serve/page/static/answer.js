// An answer by the service's language model, as it is written; shown only where one is set up. Citations lead to the hits.
import { call, events } from "./api.js";
import { at, foreign, make, number } from "./dom.js";
import { link } from "./route.js";

let model = null;
let running = new AbortController();

/** Offer an answer to the question of a state, if the service has a model; `open(chunks)` shows the hit of a passage. */
export async function offerAnswer(state, open) {
  running.abort();
  running = new AbortController();
  const { signal } = running;
  at("answer").replaceChildren();
  model ??= call("v1/ask").then((found) => found.model, () => null);
  const name = await model;
  if (!name || signal.aborted) return;
  const button = make("button", { type: "button" }, "Answer with ", foreign(name));
  button.onclick = () => write(state, name, open, signal);
  at("answer").replaceChildren(button);
}

/** Take the offer and the answer away. */
export function closeAnswer() {
  running.abort();
  at("answer").replaceChildren();
}

async function write({ q, corpus }, name, open, signal) {
  const text = make("p", { className: "answer-text", dir: "auto", "aria-live": "polite", "aria-busy": "true" });
  const foot = make("p", { className: "hint" }, "Reading …");
  at("answer").replaceChildren(make("section", { className: "card answer", "aria-label": "Answer" }, text, foot));
  let passages = [];
  try {
    for await (const { event, data } of events("v1/ask", { method: "POST", body: { query: q, corpus }, signal })) {
      if (event === "context") passages = data.passages;
      else if (event === "text") text.append(data.citation === null || data.citation === undefined ? data.text : citation(data, passages, corpus, open));
      else if (event === "reset") text.replaceChildren();
      else if (event === "done") foot.replaceChildren(...told(data, name));
      else if (event === "error") foot.replaceChildren(make("span", { className: "problem" }, `${data.detail} ${data.fix ?? ""}`));
    }
  } catch (error) {
    if (!signal.aborted) foot.replaceChildren(make("span", { className: "problem" }, `${error.message} ${error.fix ?? ""}`));
  }
  text.setAttribute("aria-busy", "false");
}

function citation({ text, citation: cited, known }, passages, corpus, open) {
  const passage = passages[cited - 1];
  if (!known || !passage) return make("span", { className: "citation unknown", title: "No passage has this number." }, text);
  const anchor = make("a", { className: "citation", title: passage.title || passage.document, href: link({ view: "corpora", corpus, doc: passage.document }) }, text);
  anchor.onclick = (event) => {
    if (open(passage.chunks)) event.preventDefault();
  };
  return anchor;
}

function told({ warnings = [], context_tokens: tokens, complete }, name) {
  const parts = [`Written by `, foreign(name), tokens === undefined ? "" : ` from ${number(tokens)} tokens of passages`, complete === false ? ", and not to its end." : "."];
  return [...parts, ...warnings.map((warning) => make("span", { className: "answer-warning" }, ` ${warning}`))];
}
