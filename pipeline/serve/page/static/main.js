// The page: views, the question that they share, and the corpus they are about.
import { isShown } from "./api.js";
import { watchTroubles } from "./banner.js";
import { compareAgain, showCompare } from "./compare.js";
import { corporaAgain, listCorpora, noCorpora, showCorpora } from "./corpora.js";
import { at, failure } from "./dom.js";
import { graphDrawing, graphsAgain, showGraphs } from "./graphs.js";
import { showHome } from "./home.js";
import { hideJobs, showJobs } from "./jobs.js";
import { listenToKeys } from "./keys.js";
import { fillLegs } from "./legs.js";
import { fitMap, mapDrawing, showPathToHit } from "./map.js";
import { change, current, link, onState, tell } from "./route.js";
import { closeHit, moveFocus, searchAgain, showMore, showSearch } from "./search.js";
import { adding, listenToDrops } from "./upload.js";

const VIEWS = {
  search: { show: showSearch, again: searchAgain },
  compare: { show: showCompare, again: compareAgain },
  graphs: { show: showGraphs, again: graphsAgain },
  corpora: { show: showCorpora, again: corporaAgain },
  jobs: { show: () => {}, again: showJobs },
};
const PAUSE_MILLISECONDS = 250;
const SHORTEST = 3;

let pause = 0;
let view = "";
let question = "";
// The next letter begins a new entry of the history: the one before was asked for with Enter.
let settled = true;

async function readCorpora() {
  try {
    const names = (await listCorpora()).map((corpus) => corpus.name);
    at("corpus").replaceChildren(...names.map((name) => new Option(name, name)));
    at("picker").hidden = !names.length;
    at("none").replaceChildren(...(names.length ? [] : [noCorpora(), adding("documents", added)]));
    const { corpus } = current();
    if (names.length && !names.includes(corpus)) change({ corpus: names.includes("default") ? "default" : names[0] });
    else tell();
    return names.length > 0;
  } catch (error) {
    if (!isShown(error)) at("none").replaceChildren(failure(error));
    return false;
  }
}

function render(state) {
  document.title = state.q && ["search", "compare"].includes(state.view) ? `${state.q} – HopRank` : "HopRank";
  const asks = state.view === "search" || state.view === "compare";
  at("none").hidden = !asks;
  at("ask").hidden = !asks || at("none").hasChildNodes();
  at("leg-label").hidden = state.view !== "search";
  at("left-label").hidden = at("right-label").hidden = state.view !== "compare";
  for (const name of ["corpus", "leg", "left", "right"]) at(name).value = state[name];
  // What is being typed stays, whatever else changes meanwhile.
  if (state.q !== question) at("question").value = question = state.q;
  for (const tab of document.querySelectorAll("[data-view]")) {
    tab.href = link({ ...state, view: tab.dataset.view, hit: "", doc: "", graph: "" });
    if (tab.dataset.view === state.view) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  for (const name of Object.keys(VIEWS)) at(name).hidden = name !== state.view;
  showHome(state, added);
  if (view !== state.view) enter(state.view);
  VIEWS[state.view].show(state);
}

function enter(name) {
  if (view === "jobs") hideJobs();
  if (name === "jobs") showJobs();
  view = name;
}

/** Files were added to a corpus, which may be new. */
async function added(corpus) {
  await readCorpora();
  if (corpus !== current().corpus) change({ corpus, q: "", hit: "", doc: "" }, { push: true });
  else await again();
}

async function again() {
  if (await readCorpora()) await VIEWS[current().view].again(current());
}

function ask({ enter: asked }) {
  clearTimeout(pause);
  const q = at("question").value.trim();
  if (!asked && q && q.length < SHORTEST) return;
  question = q;
  if (q !== current().q) change({ q, hit: "" }, { push: settled });
  settled = asked;
}

function listen() {
  at("question").addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(ask, PAUSE_MILLISECONDS, { enter: false });
  });
  at("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    ask({ enter: true });
  });
  for (const name of ["corpus", "leg", "left", "right"]) {
    at(name).addEventListener("change", () => change({ [name]: at(name).value, hit: "", doc: "" }, { push: true }));
  }
  at("more").addEventListener("click", () => showMore(current()));
  at("map-close").addEventListener("click", () => closeHit(current()));
  at("map-fit").addEventListener("click", fitMap);
  at("map-path").addEventListener("click", showPathToHit);
  at("skip").addEventListener("click", (event) => {
    event.preventDefault();
    at("main").focus();
  });
  listenToKeys(moveFocus, () => {
    if (current().hit) closeHit(current());
    else if (document.activeElement === at("question")) at("question").blur();
  });
}

for (const name of ["leg", "left", "right"]) fillLegs(at(name));
listen();
watchTroubles(again);
listenToDrops(() => current().corpus || "documents", added);
onState(render);
tell();
// Whoever types already stays where they are.
if ((await readCorpora()) && !current().q && document.activeElement === document.body) at("question").focus({ preventScroll: true });
// For tests and the browser's console.
window.hoprank = { drawing: mapDrawing, graph: graphDrawing };
