// The map beside the hits: the path to a hit and what is around it, drawn and as a list. A click on a node goes on.
import { call, corpusPath, isShown } from "./api.js";
import { at, plural } from "./dom.js";
import { Drawing } from "./drawing.js";
import { nameOf } from "./nodes.js";
import { showNode, showNodeFailure } from "./node.js";
import { titleOf } from "./hit.js";

const LISTED = 100;
const DRAWN = 14;

let loading = null;
let drawing = null;
let running = new AbortController();
let shown = { corpus: "", hit: "", focus: "", path: [] };

/** Show a hit of a corpus with its path; `node` is the node to begin at, else the hit. The same hit again stays as is. */
export async function openMap(corpus, { metadata }, node) {
  const same = shown.corpus === corpus && shown.hit === metadata.id;
  if (same && (!node || node === shown.focus)) return;
  const steps = (metadata.evidence ?? []).filter((step) => step.id);
  shown = { corpus, hit: metadata.id, focus: node ?? metadata.id, path: steps.map((step) => step.id) };
  const opened = shown;
  at("map").hidden = false;
  document.body.classList.add("with-map");
  at("map-title").textContent = titleOf(metadata);
  loading ??= Drawing.in(at("canvas"), focus);
  drawing = await loading;
  if (shown !== opened) return;
  if (!same) {
    drawing.clear();
    drawing.addPath(steps);
  }
  await focus(shown.focus);
}

/** Close the map. */
export function closeMap() {
  running.abort();
  shown = { corpus: "", hit: "", focus: "", path: [] };
  at("map").hidden = true;
  document.body.classList.remove("with-map");
}

/** Draw a shortest path from the node that is shown to the hit. */
export async function showPathToHit() {
  const params = new URLSearchParams({ source: shown.focus, target: shown.hit });
  const found = await asked(`/graph/path?${params}`);
  if (!found) return;
  if (!found.nodes.length) {
    at("map-notice").textContent = "No path leads from here to the hit.";
    return;
  }
  drawing.add(found.nodes, found.edges, shown.focus);
  drawing.markPath(found.nodes.map((node) => node.id));
  drawing.arrange(shown.focus);
  at("map-notice").textContent = `The path to the hit: ${found.nodes.map(nameOf).join(" – ")}.`;
}

/** Show the whole drawing. */
export const fitMap = () => drawing?.fit();

/** The drawing, for tests and the browser's console. */
export const mapDrawing = () => drawing;

async function focus(id) {
  shown.focus = id;
  at("map-path").hidden = shown.path.includes(id) || id === shown.hit;
  const found = await asked(`/graph/neighbours?${new URLSearchParams({ id, limit: LISTED })}`);
  if (!found) return;
  const drawn = mostConnected(found);
  drawing.add([found.node, ...drawn], found.edges, id);
  // First, since it takes a line of the drawing's height.
  at("map-notice").textContent = notice(found, drawn.length);
  drawing.arrange(id);
  at("canvas").setAttribute("aria-label", `Graph of ${plural(drawing.size.nodes, "node")} around ${nameOf(found.node)}; the list below has its neighbours`);
  showNode(found, shown.corpus, focus);
}

/** Return the neighbours to draw: those with the most edges among what is shown. */
function mostConnected({ nodes, edges }) {
  const degree = (id) => edges.filter(({ source, target }) => source === id || target === id).length;
  return nodes.map((node) => [degree(node.id), node]).sort(([a], [b]) => b - a).slice(0, DRAWN).map(([, node]) => node);
}

function notice({ nodes, left_out: more }, drawn) {
  if (drawn === nodes.length) return "";
  return `${drawn} of ${plural(nodes.length + more, "neighbour")} are drawn; the list has ${more ? `the first ${nodes.length}` : "all"}.`;
}

/** Return the answer of a route of the corpus, or null if it failed or something else was asked meanwhile. */
async function asked(rest) {
  running.abort();
  running = new AbortController();
  try {
    return await call(corpusPath(shown.corpus, rest), { signal: running.signal });
  } catch (error) {
    if (!isShown(error)) showNodeFailure(error);
    return null;
  }
}
