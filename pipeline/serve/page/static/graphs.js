// Graphs: the knowledge graphs and corpora of the service, each drawn as `hoprank graph view` draws it, and the domains.
import { call, corpusPath, isShown } from "./api.js";
import { at, empty, failure, foreign, make, number, plural } from "./dom.js";
import { drawGraph, sizeOf } from "./graph.js";
import { current, link } from "./route.js";

const DRAWN = [60, 150, 320];
const NARROW = 720;

let shown = "";
let limit = DRAWN[window.innerWidth < NARROW ? 0 : 1];
let drawing = null;

/** Show the graphs for a state; reads only if something changed. */
export async function showGraphs(state) {
  if (state.view === "graphs" && keyOf(state) !== shown) await graphsAgain(state);
}

/** Read the graphs again. */
export async function graphsAgain(state) {
  const key = (shown = keyOf(state));
  at("graphs").classList.add("stale");
  try {
    const [graphs, corpora, domains] = await Promise.all([call("v1/graphs"), call("v1/corpora"), call("v1/domains")]);
    const chosen = graphs.find(({ name }) => name === state.graph) ?? (state.graph ? null : corpora.find(({ name }) => name === state.corpus));
    const place = make("div", { className: "graph-place" });
    if (key !== shown) return;
    at("graphs").replaceChildren(menu(graphs, corpora, domains, state), place);
    if (chosen) await draw(place, state, key);
    else place.append(state.graph ? empty("There is no such graph.") : empty("There is no graph yet.", "Ingest a folder, or make a graph of another kind:", "hoprank skills build DIR"));
  } catch (error) {
    shown = "";
    if (!isShown(error)) at("graphs").replaceChildren(failure(error));
  } finally {
    at("graphs").classList.remove("stale");
  }
}

const keyOf = ({ corpus, graph }) => JSON.stringify([corpus, graph, limit]);

/** The drawing, for tests and the browser's console. */
export const graphDrawing = () => drawing;

function menu(graphs, corpora, domains, state) {
  const entry = (name, size, changes, is) => make("li", {}, make("a", { href: link({ ...state, ...changes }), ...(is && { "aria-current": "true" }) }, foreign(name), make("small", {}, size)));
  return make(
    "nav", { className: "menu graphs-menu", "aria-label": "Graphs" },
    graphs.length > 0 && make("h2", {}, "Knowledge graphs"),
    graphs.length > 0 && make("ul", {}, graphs.map(({ name, nodes, edges, kind }) => entry(name, `${kind ? `${kind} · ` : ""}${plural(nodes, "node")}, ${plural(edges, "edge")}`, { graph: name }, name === state.graph))),
    make("h2", {}, "Corpora"),
    make("ul", {}, corpora.map(({ name, documents, entities }) => entry(name, `${plural(documents, "document")}, ${plural(entities, "entity", "entities")}`, { corpus: name, graph: "" }, !state.graph && name === state.corpus))),
    kinds(domains),
  );
}

function kinds(domains) {
  const rows = domains.map(({ name, help, verbs }) => [make("dt", {}, name), make("dd", {}, help, verbs.length > 0 && make("small", {}, ` Agents may ask: ${verbs.map((verb) => verb.name).join(", ")}.`))]);
  return make("details", { className: "kinds" }, make("summary", {}, "Kinds of graphs"), make("dl", {}, rows.flat()));
}

async function draw(place, state, key) {
  const path = state.graph ? `v1/graphs/${encodeURIComponent(state.graph)}/picture` : corpusPath(state.corpus, "/graph/picture");
  place.append(make("p", { className: "hint", role: "status" }, "Drawing …"));
  const [picture] = await Promise.all([call(`${path}?limit=${limit}`), import("./cytoscape.min.js")]);
  if (key !== shown) return;
  const head = make("div", { className: "graph-head" }, make("h2", {}, foreign(picture.name)), make("span", { className: "hint" }, sizeOf(picture)), sizes(picture));
  const root = make("div", { className: "graph-root" });
  place.replaceChildren(head, root);
  if (!picture.nodes.length) root.replaceWith(empty("It holds nothing yet."));
  else drawing = drawGraph(root, picture, { links: (node) => (state.graph ? [] : [" · ", leadOn(node, state)]) });
}

function sizes({ total_nodes: total }) {
  const select = make("select", {}, DRAWN.filter((one, place) => place === 0 || DRAWN[place - 1] < total).map((one) => new Option(number(one), one, false, one === limit)));
  select.onchange = () => {
    limit = Number(select.value);
    graphsAgain(current());
  };
  return make("label", { className: "hint graph-limit" }, "Nodes at most ", select);
}

function leadOn({ type, name, properties }, { corpus }) {
  if (type === "document") return make("a", { href: link({ view: "corpora", corpus, doc: properties.key }) }, "Read it");
  return make("a", { href: link({ view: "search", corpus, q: name }) }, "Search for it");
}
