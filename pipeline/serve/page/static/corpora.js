// Corpora: what they hold, their entities, the distribution of their edges, and their documents.
import { call, corpusPath, isShown } from "./api.js";
import { documentList, documentToRead } from "./documents.js";
import { at, empty, failure, foreign, make, number, plural } from "./dom.js";
import { degreePlot } from "./plot.js";
import { current, link } from "./route.js";

const INGEST = "hoprank ingest docs/ --corpus docs";

let shown = "";

/** Return the corpora that the service lists. */
export const listCorpora = () => call("v1/corpora");

/** Make the message for a service without a corpus, with the command that makes one. */
export const noCorpora = () => empty("There is no corpus yet.", "Ingest a folder of documents, and reload this page:", INGEST);

/** Show the corpora for a state; reads only if something changed. */
export async function showCorpora(state) {
  const key = JSON.stringify([state.corpus, state.doc]);
  if (key !== shown) await corporaAgain(state);
}

/** Read the corpora again. */
export async function corporaAgain(state) {
  shown = JSON.stringify([state.corpus, state.doc]);
  try {
    const corpora = await listCorpora();
    const chosen = corpora.find((corpus) => corpus.name === state.corpus);
    const details = chosen ? await detailsOf(state) : [];
    if (shown !== JSON.stringify([current().corpus, current().doc])) return;
    at("corpora").replaceChildren(...(corpora.length ? [menu(corpora, chosen), make("div", { className: "details" }, details)] : [noCorpora()]));
  } catch (error) {
    shown = "";
    if (!isShown(error)) at("corpora").replaceChildren(failure(error));
  }
}

function menu(corpora, chosen) {
  const items = corpora.map(({ name, documents, chunks, writing }) => {
    const attributes = chosen?.name === name ? { "aria-current": "true" } : {};
    return make("li", {}, make(
      "a", { href: link({ ...current(), corpus: name, doc: "" }), ...attributes },
      foreign(name), make("small", {}, `${plural(documents, "document")}, ${plural(chunks, "chunk")}${writing ? ", being written" : ""}`),
    ));
  });
  return make("nav", { className: "menu", "aria-label": "Corpora" }, make("ul", {}, items));
}

async function detailsOf({ corpus, doc }) {
  if (doc) return [documentToRead(corpus, doc)];
  const [stats, { degrees }] = await Promise.all([call(corpusPath(corpus)), call(corpusPath(corpus, "/degrees"))]);
  const head = make("h2", {}, foreign(stats.name));
  if (!stats.documents) return [head, empty("This corpus is empty.", "Ingest documents into it:", `hoprank ingest docs/ --corpus ${stats.name}`)];
  return [head, figures(stats), edges(stats), entities(stats), plots(degrees), documentList(corpus)];
}

function figures({ documents, chunks, entities, created_at: created, fingerprint, writer }) {
  const counts = [["documents", documents], ["chunks", chunks], ["entities", entities]];
  return make(
    "section", { className: "card wide" },
    make("dl", { className: "figures" }, counts.map(([name, count]) => make("div", {}, make("dt", {}, name), make("dd", {}, number(count))))),
    make("p", { className: "hint" }, `Made ${new Date(created).toLocaleString()} with ${fingerprint}.${writer ? ` ${writer} writes to it now.` : ""}`),
  );
}

function edges(stats) {
  const rows = Object.entries(stats.edges).filter(([, count]) => count > 0).sort(([, a], [, b]) => b - a);
  return bars("Edges", rows, (name) => name);
}

function entities({ name: corpus, top }) {
  const rows = top.map(({ name, mentions }) => [name, mentions]);
  return bars("Entities in most chunks", rows, (name) => make("a", { href: link({ view: "search", corpus, q: name }) }, foreign(name)));
}

function bars(title, rows, label) {
  const most = Math.max(1, ...rows.map(([, count]) => count));
  const items = rows.map(([name, count]) => {
    const bar = make("span", { className: "bar-fill" });
    bar.style.width = `${(100 * count) / most}%`;
    return make("li", {}, make("span", { className: "bar-name" }, label(name)), make("span", { className: "bar-room" }, bar), make("span", { className: "bar-count" }, number(count)));
  });
  return make("section", { className: "card" }, make("h3", {}, title), make("ul", { className: "bars" }, items));
}

function plots(degrees) {
  const kinds = Object.entries(degrees).filter(([, points]) => points.length);
  const figures_ = kinds.map(([type, points]) => make("figure", {}, make("figcaption", {}, type), degreePlot(type, points)));
  return make(
    "section", { className: "card wide" },
    make("h3", {}, "Degrees"), make("p", { className: "hint" }, "Number of chunks by their number of edges, for each type of edge; both axes are logarithmic."),
    make("div", { className: "plots" }, figures_),
  );
}
