// A node of the graph in words: its text, and its neighbours as a list that the keyboard reaches.
import { at, failure, foreign, make, number } from "./dom.js";
import { KINDS, nameOf } from "./nodes.js";
import { relation } from "./relations.js";
import { current, link } from "./route.js";

/** Show a node with its neighbours; `choose(id)` is called when one of them is chosen. */
export function showNode({ node, nodes, edges }, corpus, choose) {
  at("node").replaceChildren(
    make("h3", {}, make("span", { className: `dot ${node.type}` }), foreign(nameOf(node))),
    make("p", { className: "kind" }, KINDS[node.type], " · ", elsewhere(node, corpus)),
    ...(node.properties.text ? [make("p", { className: "whole", dir: "auto" }, node.properties.text.trim())] : []),
    ...groups(node, nodes, edges).map(([words, members]) => group(words, members, choose)),
  );
  at("node").scrollTop = 0;
}

/** Show an error in place of a node. */
export const showNodeFailure = (error) => at("node").replaceChildren(failure(error));

function elsewhere({ type, properties }, corpus) {
  if (type === "entity") return make("a", { href: link({ ...current(), view: "search", q: properties.name, hit: "" }) }, "Search for it");
  const doc = type === "document" ? properties.key : properties.document;
  return make("a", { href: link({ view: "corpora", corpus, doc }) }, "Read the document");
}

function groups(node, nodes, edges) {
  const byId = new Map(nodes.map((one) => [one.id, one]));
  const found = new Map();
  for (const { source, target, type } of edges) {
    const other = byId.get(source === node.id ? target : target === node.id ? source : "");
    if (!other) continue;
    const words = relation(type, node.type);
    found.set(words, [...(found.get(words) ?? []), other]);
  }
  return [...found];
}

function group(words, members, choose) {
  const buttons = members.map((node) =>
    make("li", {}, make(
      "button", { type: "button", className: `chip ${node.type}`, onclick: () => choose(node.id) },
      make("span", { className: `dot ${node.type}` }), foreign(nameOf(node)),
    )),
  );
  return make("section", {}, make("h4", {}, `${words} `, make("small", {}, number(members.length))), make("ul", { className: "chips" }, buttons));
}
