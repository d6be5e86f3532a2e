// The state of the page, kept in the URL's fragment: it can be bookmarked, and the back button goes through it.

const DEFAULTS = { view: "search", corpus: "", q: "", leg: "hoprank", left: "vector", right: "hoprank", hit: "", doc: "", graph: "" };
const VIEWS = ["search", "compare", "graphs", "corpora", "jobs"];

const listeners = [];

window.addEventListener("hashchange", tell);

/** Return the state. It is always read from the fragment: the event that tells of another one comes later than it. */
export function current() {
  const [view, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const params = new URLSearchParams(query);
  const found = Object.fromEntries(Object.entries(DEFAULTS).map(([name, value]) => [name, params.get(name) ?? value]));
  return { ...found, view: VIEWS.includes(view) ? view : DEFAULTS.view };
}

/** Call a function with the state, now and whenever it changes. */
export function onState(listener) {
  listeners.push(listener);
}

/** Change parts of the state; `push` adds an entry to the history. */
export function change(changes, { push = false } = {}) {
  const url = link({ ...current(), ...changes });
  if (url !== location.hash) history[push ? "pushState" : "replaceState"](null, "", url);
  tell();
}

/** Return the fragment for a state. */
export function link(values) {
  const params = new URLSearchParams();
  for (const name of Object.keys(DEFAULTS)) {
    const value = values[name] ?? DEFAULTS[name];
    if (name !== "view" && value !== DEFAULTS[name]) params.set(name, value);
  }
  return `#/${values.view ?? DEFAULTS.view}${params.size ? `?${params}` : ""}`;
}

/** Call all listeners with the state. */
export function tell() {
  const state = current();
  for (const listener of listeners) listener(state);
}
