// The drawing of a part of a graph, by Cytoscape.js, which is loaded when the first is drawn.
import { colourOf, onTheme, sharedStyle } from "./graph.js";
import { nameOf } from "./nodes.js";
import { radial } from "./radial.js";
import { relation } from "./relations.js";
import { spread } from "./spread.js";

const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const RADIUS = 130;
const MARGIN = 4;
const WORDS = 34;

/** A drawing in an element; `choose(id)` is called when a node is clicked. */
export class Drawing {
  #cy;
  #path = [];
  #home = { zoom: 1, pan: { x: 0, y: 0 } };

  /** Make a drawing, once the library is loaded. */
  static async in(container, choose) {
    await import("./cytoscape.min.js");
    return new Drawing(container, choose);
  }

  constructor(container, choose) {
    this.#cy = globalThis.cytoscape({ container, style: style(), minZoom: 0.2, maxZoom: 3, boxSelectionEnabled: false });
    this.#cy.on("tap", "node", (event) => choose(event.target.id()));
    onTheme(() => this.#cy.style(style()));
    new ResizeObserver(() => this.#cy.resize()).observe(container);
  }

  /** The numbers of nodes and edges. */
  get size() {
    return { nodes: this.#cy.nodes().length, edges: this.#cy.edges().length };
  }

  /** The number of nodes on the path that is marked. */
  get pathLength() {
    return this.#cy.nodes(".path").length;
  }

  /** Return a node by its name and kind, with the place where it is drawn, in pixels of the element. */
  find(name, kind) {
    const node = this.#cy.nodes().filter((one) => one.data("name") === name && one.data("kind") === kind).first();
    return node.nonempty() ? { id: node.id(), place: node.renderedPosition() } : null;
  }

  /** Remove everything. */
  clear() {
    this.#cy.elements().remove();
  }

  /** Add the path to a hit, a list of evidence steps, in a row. */
  addPath(steps) {
    const nodes = steps.filter((step) => step.id);
    nodes.forEach(({ id, kind, name }, index) => this.#addNode(id, kind.toLowerCase(), name, { x: index * RADIUS, y: 0 }));
    nodes.slice(1).forEach((step, index) => this.#addEdge(nodes[index].id, step.id, step.by));
    this.markPath(nodes.map((step) => step.id));
  }

  /** Mark a path of nodes by their ids; the one before is unmarked. */
  markPath(ids) {
    this.#path = ids;
    this.#cy.elements().removeClass("path").removeData("words");
    ids.forEach((id) => this.#cy.getElementById(id).addClass("path"));
    ids.slice(1).forEach((id, index) => {
      const [from, to] = [this.#cy.getElementById(ids[index]), this.#cy.getElementById(id)];
      const edges = from.edgesWith(to).addClass("path");
      edges.first().data("words", relation(edges.first().data("type"), from.data("kind")));
    });
  }

  /** Add nodes and edges of the service around a node; those that are there stay in place. */
  add(nodes, edges, around) {
    const centre = this.#cy.getElementById(around).nonempty() ? this.#cy.getElementById(around).position() : { x: 0, y: 0 };
    nodes.forEach((node, index) => {
      const angle = (2 * Math.PI * index) / nodes.length;
      const position = { x: centre.x + RADIUS * Math.cos(angle), y: centre.y + RADIUS * Math.sin(angle) };
      this.#addNode(node.id, node.type, nameOf(node), position);
    });
    edges.forEach(({ source, target, type }) => this.#addEdge(source, target, type));
  }

  /** Move the nodes apart, emphasise one and its edges, and show all. */
  arrange(focus) {
    this.#cy.elements().removeClass("focus near");
    const node = this.#cy.getElementById(focus).addClass("focus");
    node.connectedEdges().addClass("near");
    this.#cy.resize();
    const { places, scale } = spread(this.#boxes(radial(focus, this.#neighbours(), this.#path)), this.#cy.width(), this.#cy.height());
    this.#home = { zoom: scale, pan: { x: 0, y: 0 } };
    const positions = Object.fromEntries(places.map(({ id, x, y }) => [id, { x, y }]));
    this.#cy.layout({ name: "preset", positions, fit: false, ...this.#home, animate: !still.matches, animationDuration: 350 }).run();
  }

  /** Show all as it was arranged. */
  fit() {
    this.#cy.animate(this.#home, { duration: still.matches ? 0 : 200 });
  }

  #neighbours() {
    return new Map(this.#cy.nodes().map((node) => [node.id(), node.neighborhood("node").map((one) => one.id())]));
  }

  /** Return the nodes at their places with what they and their labels reach, in pixels. */
  #boxes(places) {
    return this.#cy.nodes().map((node) => {
      const { x, y } = node.position();
      const { x1, x2, y1, y2 } = node.boundingBox({ includeLabels: true, includeOverlays: false });
      const reach = { left: x - x1 + MARGIN, right: x2 - x + MARGIN, top: y - y1 + MARGIN, bottom: y2 - y + MARGIN };
      const row = node.hasClass("path");
      // The words of the path stand between its nodes.
      if (row) reach.right += WORDS;
      return { id: node.id(), ...places.get(node.id()), ...reach, row };
    });
  }

  #addNode(id, kind, name, position) {
    const there = this.#cy.getElementById(id);
    if (there.nonempty()) there.data({ kind, name });
    else this.#cy.add({ group: "nodes", data: { id, kind, name }, position });
  }

  #addEdge(source, target, type) {
    const id = `${[source, target].sort().join("|")}|${type}`;
    const drawn = [source, target].every((end) => this.#cy.getElementById(end).nonempty());
    if (drawn && this.#cy.getElementById(id).empty()) this.#cy.add({ group: "edges", data: { id, source, target, type } });
  }
}

function style() {
  const text = { "font-family": "system-ui, sans-serif", "font-size": 12, "min-zoomed-font-size": 6, "text-background-color": colourOf("surface"), "text-background-opacity": 0.9, "text-background-padding": 1 };
  return [
    ...sharedStyle(),
    { selector: "node", style: { ...text, label: "data(name)", width: 16, height: 16, "text-max-width": 150, "text-margin-y": 4 } },
    { selector: "edge", style: { ...text, "font-size": 10, color: colourOf("muted"), width: 1.2, "line-color": colourOf("edge"), "curve-style": "bezier", "text-rotation": "autorotate" } },
    { selector: "edge.near", style: { "line-color": colourOf("muted"), width: 1.6 } },
    { selector: "edge.path", style: { "line-color": colourOf("path"), width: 3.5, "z-index": 5 } },
    { selector: "edge.path[words]", style: { label: "data(words)", color: colourOf("path") } },
    { selector: "node.path", style: { "border-color": colourOf("path"), "border-width": 3, width: 20, height: 20, "font-weight": 600, "z-index": 6 } },
    { selector: "node.focus", style: { width: 26, height: 26, "border-color": colourOf("ink"), "border-width": 3, "font-size": 13, "font-weight": 700, "text-max-width": 190, "z-index": 7 } },
  ];
}
