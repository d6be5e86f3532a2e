// The first screen: questions to ask the corpus, and how to add documents.
import { call, corpusPath, isShown } from "./api.js";
import { at, foreign, make, plural } from "./dom.js";
import { change, link } from "./route.js";
import { adding } from "./upload.js";

let shown = "";
// Asks for the questions again, if they couldn't be read.
let again = null;

/** Show the first screen while nothing is asked; `added(corpus)` is called when files were added. */
export async function showHome({ view, q, corpus }, added) {
  at("home").hidden = view !== "search" || Boolean(q.trim()) || !corpus || at("none").hasChildNodes();
  if (at("home").hidden) return;
  // What is typed into the form stays.
  if (shown === corpus) return again?.();
  shown = corpus;
  const held = make("p", { className: "holding", hidden: true });
  const questions = make("div", {}, make("p", { className: "hint" }, "Looking for questions …"));
  at("home").replaceChildren(
    make("section", { className: "card" }, make("h2", {}, "Ask ", foreign(corpus)), questions, held),
    make("section", { className: "card" }, make("h2", {}, "Add documents"), adding(corpus, (name) => {
      shown = "";
      added(name);
    })),
  );
  await Promise.all([fill(questions, corpus), tell(held, corpus)]);
}

/** Tell what the corpus holds, with the way to its drawing; nothing if that can't be read. */
async function tell(place, corpus) {
  const found = (await call("v1/corpora").catch(() => [])).find(({ name }) => name === corpus);
  place.hidden = !found?.documents;
  if (place.hidden) return;
  const { documents, chunks, entities } = found;
  const words = `${plural(documents, "document")}, ${plural(chunks, "passage")}, ${plural(entities, "name")} · `;
  place.replaceChildren(words, make("a", { href: link({ view: "graphs", corpus }) }, "see how they are linked"));
}

async function fill(box, corpus) {
  again = null;
  try {
    const { questions } = await call(corpusPath(corpus, "/examples"));
    box.replaceChildren(...(questions.length ? listed(questions) : [make("p", { className: "hint" }, "Type a question above. This corpus names nothing that one could be made of.")]));
  } catch (error) {
    if (shown === corpus) again = () => fill(box, corpus);
    box.replaceChildren(isShown(error) ? "" : make("p", { className: "hint" }, error.message));
  }
}

function listed(questions) {
  const items = questions.map((question) => make("li", {}, make(
    "button", { type: "button", className: "example", onclick: () => change({ q: question, hit: "" }, { push: true }) }, foreign(question),
  )));
  return [
    make("ul", { className: "examples", "aria-label": "Example questions" }, items),
    make("p", { className: "hint" }, "Each hit shows the passage, and the path that leads to it from the names in the question."),
  ];
}
