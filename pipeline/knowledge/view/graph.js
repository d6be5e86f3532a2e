// A drawn graph: the canvas, its search, legend and details. The explorer imports this module; the page of `graph view`
// embeds it. Texts of graphs are untrusted: they are set as text, never as markup.

const dark = window.matchMedia("(prefers-color-scheme: dark)");
const still = window.matchMedia("(prefers-reduced-motion: reduce)");
const FONT = 12;
const LONGEST_LABEL = 170;
const LISTED = 12;
const SIDES = ["", "right", "left", "above"];
const HEIGHT = FONT + 5;
const DISTANCE = 2;
const ALWAYS = 16;
const STEP = 60;
const ZOOM = 1.25;
const WORDY = ["text", "description", "content"];

/** Return a colour of the theme by its name. */
export const colourOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** Call a function now and whenever the colours of the theme change. */
export function onTheme(restyle) {
  dark.addEventListener("change", restyle);
}

/** Return the styles that all drawings share: what a kind of node looks like, and labels that read on any edge. */
export function sharedStyle() {
  return [
    {
      selector: "node",
      style: {
        "border-width": 1.5, "border-color": colourOf("surface"), color: colourOf("ink"), "font-family": "system-ui, sans-serif",
        "text-wrap": "ellipsis", "text-valign": "bottom", "text-background-color": colourOf("surface"), "text-background-opacity": 0.85,
      },
    },
    { selector: 'node[kind = "chunk"]', style: { shape: "round-rectangle" } },
    { selector: 'node[kind = "document"]', style: { shape: "rectangle" } },
    ...["chunk", "entity", "document"].map((kind) => ({ selector: `node[kind = "${kind}"]`, style: { "background-color": colourOf(kind) } })),
  ];
}

/** Return the size of a graph in words. */
export function sizeOf({ nodes, edges, total_nodes: total }) {
  const more = total > nodes.length ? ` of ${total.toLocaleString("en")}, the most important` : "";
  return `${plural(nodes.length, "node")}${more}; ${plural(edges.length, "edge")}`;
}

/**
 * Draw a picture in an element, and return what drives it: `cy`, `choose(key, move)`, `search(words)`, `end()`.
 * `links(node)` returns elements that lead on from the details of a node.
 */
export function drawGraph(root, picture, { links = () => [] } = {}) {
  return new GraphDrawing(root, picture, links);
}

const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children.filter((child) => child !== null && child !== false));
  return element;
}

class GraphDrawing {
  #graph;
  #links;
  #colours;
  #searched;
  #parts;
  #timer = 0;
  #hovered = null;

  constructor(root, picture, links) {
    this.#graph = picture;
    this.#links = links;
    this.#colours = { node: new Map(picture.node_types.map(([type, , name]) => [type, name])), edge: new Map(picture.edge_types.map(([type, , name]) => [type, name])) };
    this.#searched = picture.nodes.map((node) => [node.name, node.id, node.type, ...node.labels, ...Object.values(node.properties).map(shown)].join("\n").toLowerCase());
    this.#parts = this.#build(root);
    this.cy = globalThis.cytoscape({
      container: this.#parts.canvas, elements: this.#elements(), layout: { name: "preset" }, style: this.#style(),
      minZoom: 0.02, maxZoom: 5, boxSelectionEnabled: false,
    });
    this.#listen();
    this.list([]);
    this.fit(false);
  }

  /** Show the details of a node by its key, and emphasise what is around it; `move` brings it to the middle. */
  choose = (key, move = false) => {
    const node = this.cy.getElementById(key);
    this.cy.nodes().removeClass("chosen");
    node.addClass("chosen");
    this.#highlight(node.closedNeighborhood());
    if (move) this.cy.animate({ center: { eles: node } }, { duration: still.matches ? 0 : 200 });
    this.#detail(key);
    this.#declutter();
  };

  /** Emphasise the nodes that hold all words, list and return their keys. */
  search = (text = this.#parts.input.value) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const keys = words.length ? this.#searched.flatMap((held, index) => (words.every((word) => held.includes(word)) ? [`n${index}`] : [])) : [];
    this.#parts.matches.textContent = words.length ? plural(keys.length, "node") : "";
    this.clear();
    if (words.length) this.#highlight(this.cy.collection(keys.map((key) => this.cy.getElementById(key))));
    this.list(keys);
    this.#declutter();
    return keys;
  };

  /** List nodes as buttons, the most important first; without keys the most important of all. */
  list(keys) {
    const found = (keys.length || this.#parts.input.value.trim() ? keys : this.#graph.nodes.map((_, index) => `n${index}`)).sort((a, b) => this.#node(b).size - this.#node(a).size);
    this.#parts.list.replaceChildren(...found.slice(0, LISTED).map((key) => make("li", {}, this.#button(key, this.#node(key).type))));
    this.#parts.listed.textContent = keys.length ? "Found" : "Most important";
  }

  /** Forget what is chosen. */
  clear = () => {
    this.cy.nodes().removeClass("chosen");
    this.#parts.detail.replaceChildren();
    this.#highlight(null);
    this.#declutter();
  };

  /** Show the whole drawing. */
  fit = (animate = !still.matches) => {
    const fit = { eles: this.cy.elements(":visible"), padding: Math.min(44, this.cy.width() / 12) };
    if (animate) this.cy.animate({ fit }, { duration: 200 });
    else this.cy.fit(fit.eles, fit.padding);
    if (this.cy.zoom() > 1.4) this.cy.zoom({ level: 1.4, renderedPosition: { x: this.cy.width() / 2, y: this.cy.height() / 2 } });
    this.#declutter();
  };

  /** The labels that are drawn, as boxes in pixels of the canvas. */
  get labels() {
    return this.cy.nodes(".labelled").map((node) => ({ name: node.data("name"), ...this.#box(node) }));
  }

  #node = (key) => this.#graph.nodes[Number(key.slice(1))];

  #build(root) {
    const canvas = make("div", { className: "graph-canvas", tabIndex: 0 });
    canvas.setAttribute("role", "img");
    canvas.setAttribute("aria-label", `Drawing of ${this.#graph.name}: ${sizeOf(this.#graph)}. Arrows move it, plus and minus zoom; its nodes are found and listed beside it.`);
    const input = make("input", { type: "search", autocomplete: "off", spellcheck: false, placeholder: "Name, type or text" });
    const matches = make("p", { className: "graph-matches" });
    matches.setAttribute("role", "status");
    const fit = make("button", { type: "button", onclick: () => this.fit() }, "Show all");
    const detail = make("section", { className: "graph-detail" });
    detail.setAttribute("aria-live", "polite");
    const listed = make("h3", {});
    const list = make("ul", { className: "graph-list" });
    const nodes = this.#legend("node", this.#graph.node_types);
    const edges = this.#legend("edge", this.#graph.edge_types);
    const hint = "A node is as large as it is important. Point at one for its name, click it for what it holds; zoom in for more names.";
    const tools = make("div", { className: "graph-tools" }, make("label", {}, "Find nodes", input), fit);
    root.replaceChildren(make(
      "div", { className: "graph" }, canvas,
      make("aside", { className: "graph-side", ariaLabel: "Nodes and legend" }, tools, matches, detail, listed, list, make("h3", {}, "Nodes"), nodes, make("h3", {}, "Edges"), edges, make("p", { className: "graph-hint" }, hint)),
    ));
    return { canvas, input, matches, detail, listed, list };
  }

  #legend(group, types) {
    const items = types.map(([type, count, colour]) => {
      const box = make("input", { type: "checkbox", checked: true });
      box.addEventListener("change", () => {
        this.cy[`${group}s`]().filter((one) => one.data("kind") === type).toggleClass("hidden", !box.checked);
        this.#declutter();
      });
      const label = make("label", {}, box, this.#sign(group, type), make("span", { className: "name" }, type), make("span", { className: "count" }, count.toLocaleString("en")));
      label.dataset.colour = colour;
      return make("li", {}, label);
    });
    return make("ul", { className: `graph-legend graph-${group}s` }, ...items);
  }

  #sign(group, type) {
    const sign = make("span", { className: group === "edge" ? "graph-line" : `graph-sign ${["chunk", "document"].includes(type) ? type : ""}` });
    sign.style[group === "edge" ? "borderTopColor" : "background"] = `var(--${this.#colours[group].get(type)})`;
    return sign;
  }

  #elements() {
    // Places are wider than high; on a phone held upright they lie the other way round.
    const { clientWidth, clientHeight } = this.#parts.canvas;
    const placed = ({ x, y }) => (clientHeight > clientWidth ? { x: y, y: x } : { x, y });
    return {
      nodes: this.#graph.nodes.map((node, index) => ({ data: { id: `n${index}`, name: node.name, kind: node.type, size: node.size, colour: this.#colours.node.get(node.type) }, position: placed(node) })),
      edges: this.#graph.edges.map(({ source, target, type, width, directed }, index) => ({ data: { id: `e${index}`, source: `n${source}`, target: `n${target}`, kind: type, colour: this.#colours.edge.get(type), width, arrow: directed ? "triangle" : "none" } })),
    };
  }

  #style() {
    // By the names of our colours, since types hold any characters.
    const coloured = (group, properties) => [...new Set(this.#colours[group].values())].map((colour) => ({ selector: `${group}[colour = "${colour}"]`, style: Object.fromEntries(properties.map((name) => [name, colourOf(colour)])) }));
    return [
      ...sharedStyle(),
      { selector: "node", style: { width: "data(size)", height: "data(size)" } },
      { selector: "edge", style: { width: "data(width)", "target-arrow-shape": "data(arrow)", "arrow-scale": 0.8, "curve-style": "bezier", opacity: 0.55 } },
      ...coloured("node", ["background-color"]),
      ...coloured("edge", ["line-color", "target-arrow-color"]),
      { selector: "node.labelled", style: { label: "data(name)", "z-index": 5, "text-margin-y": (node) => DISTANCE / node.cy().zoom() } },
      { selector: "node.above", style: { "text-valign": "top", "text-margin-y": (node) => -DISTANCE / node.cy().zoom() } },
      { selector: "node.right", style: { "text-valign": "center", "text-halign": "right", "text-margin-y": 0, "text-margin-x": (node) => (DISTANCE + 2) / node.cy().zoom() } },
      { selector: "node.left", style: { "text-valign": "center", "text-halign": "left", "text-margin-y": 0, "text-margin-x": (node) => -(DISTANCE + 2) / node.cy().zoom() } },
      { selector: ".faded", style: { opacity: 0.15 } },
      { selector: "edge.faded", style: { opacity: 0.06 } },
      { selector: "edge.highlighted", style: { opacity: 0.9 } },
      { selector: "node.hover, node.chosen", style: { "border-width": 3, "border-color": colourOf("ink"), "z-index": 10 } },
      { selector: ".hidden", style: { display: "none" } },
    ];
  }

  #listen() {
    const { input } = this.#parts;
    input.addEventListener("input", () => this.search());
    input.addEventListener("keydown", (event) => {
      if (event.key === "Escape") input.value = "";
      const keys = event.key === "Enter" || event.key === "Escape" ? this.search() : [];
      if (keys.length) this.choose(keys.reduce((best, key) => (this.#node(key).size > this.#node(best).size ? key : best)), true);
    });
    this.#parts.canvas.addEventListener("keydown", (event) => this.#steer(event));
    this.cy.on("tap", "node", (event) => this.choose(event.target.id()));
    this.cy.on("tap", (event) => event.target === this.cy && this.clear());
    this.cy.on("mouseover", "node", ({ target }) => this.#hover(target));
    this.cy.on("mouseout", "node", () => this.#hover(null));
    this.cy.on("zoom", () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#declutter(), 40);
    });
    onTheme(() => this.cy.style(this.#style()));
    new ResizeObserver(() => {
      this.cy.resize();
      if (!this.cy.nodes(".chosen").length) this.fit(false);
    }).observe(this.#parts.canvas);
  }

  /** Move and zoom by the keyboard: arrows, + and -, 0 for all. */
  #steer(event) {
    const by = { ArrowLeft: [STEP, 0], ArrowRight: [-STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP] }[event.key];
    const factor = { "+": ZOOM, "=": ZOOM, "-": 1 / ZOOM }[event.key];
    if (by) this.cy.panBy({ x: by[0], y: by[1] });
    else if (factor) this.cy.zoom({ level: this.cy.zoom() * factor, renderedPosition: { x: this.cy.width() / 2, y: this.cy.height() / 2 } });
    else if (event.key === "0") this.fit();
    else return;
    event.preventDefault();
  }

  #hover(node) {
    this.#hovered = node;
    this.cy.nodes(".hover").removeClass("hover");
    node?.addClass("hover");
    this.#declutter();
  }

  #highlight(elements) {
    this.cy.elements().removeClass("faded highlighted");
    if (!elements) return;
    this.cy.elements().addClass("faded");
    elements.removeClass("faded").addClass("highlighted");
  }

  /**
   * Label the nodes that have room for it, of those that would overlap the more important: letters are as large at any
   * zoom. The most important may cover small nodes, never a label.
   */
  #declutter() {
    const zoom = this.cy.zoom();
    const near = this.#hovered?.closedNeighborhood().nodes() ?? this.cy.collection();
    const urgency = (node) => (node.hasClass("hover") || node.hasClass("chosen") ? 3000 : near.has(node) ? 2000 : node.hasClass("highlighted") ? 1000 : 0) + node.data("size");
    const nodes = this.cy.nodes(":visible").filter((node) => !node.hasClass("faded") || near.has(node)).sort((a, b) => urgency(b) - urgency(a) || (a.id() < b.id() ? -1 : 1));
    const discs = nodes.map((node) => discOf(node, zoom));
    const labels = [];
    this.cy.batch(() => {
      this.cy.nodes().removeClass("labelled above right left").style({ "font-size": FONT / zoom, "text-max-width": LONGEST_LABEL / zoom, "text-background-padding": 1 / zoom });
      nodes.forEach((node, rank) => {
        const boxes = SIDES.map((side) => this.#box(node, side));
        const clear = boxes.filter((box) => this.#isInside(box, node) && !labels.some((label) => overlap(box, label)));
        const free = clear.find((box) => !discs.some((disc) => disc.id !== node.id() && overlap(box, disc)));
        const box = free ?? (rank < ALWAYS ? clear[0] : null) ?? (urgency(node) >= 3000 ? boxes[0] : null);
        if (!box) return;
        node.addClass(`labelled ${box.side}`);
        labels.push(box);
      });
    });
  }

  /** Return whether a label is within the canvas, or its node isn't either. */
  #isInside({ left, right, top, bottom }, node) {
    const { x, y } = node.renderedPosition();
    const [width, height] = [this.cy.width(), this.cy.height()];
    const seen = x >= 0 && x <= width && y >= 0 && y <= height;
    return !seen || (left >= 0 && right <= width && top >= 0 && bottom <= height);
  }

  /** Return where the label of a node is at one of its sides, in pixels of the canvas. */
  #box(node, side = SIDES.find((one) => node.hasClass(one)) ?? "") {
    const { x, y } = node.renderedPosition();
    const width = Math.min(widthOf(node.data("name")), LONGEST_LABEL) + 6;
    const reach = node.renderedHeight() / 2 + DISTANCE;
    const [left, top] = {
      "": [x - width / 2, y + reach], above: [x - width / 2, y - reach - HEIGHT], right: [x + reach, y - HEIGHT / 2], left: [x - reach - width, y - HEIGHT / 2],
    }[side];
    return { side, left, right: left + width, top, bottom: top + HEIGHT };
  }

  #button(key, hint, edge = null) {
    const { name, type } = this.#node(key);
    const button = make("button", { type: "button", title: name, onclick: () => this.choose(key, true) }, edge ? this.#sign("edge", edge) : this.#sign("node", type), make("span", { className: "name" }, name), make("small", {}, hint));
    button.dataset.key = key;
    return button;
  }

  #detail(key) {
    const node = this.#node(key);
    const fields = [["id", node.id], ["labels", node.labels.join(", ")], ["parent", node.parent_id], ["PageRank", `${(100 * node.pagerank).toFixed(2)}%`], ...Object.entries(node.properties)];
    const told = fields.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== node.name);
    const first = told.filter(([name]) => WORDY.includes(name));
    const list = make("dl", {});
    for (const [name, value] of [...first, ...told.filter(([name]) => !WORDY.includes(name))]) list.append(make("dt", {}, name), make("dd", {}, shown(value)));
    const edges = this.cy.getElementById(key).connectedEdges(":visible").sort((a, b) => b.data("width") - a.data("width"));
    const items = edges.map((edge) => {
      const out = edge.source().id() === key;
      const sign = edge.data("arrow") === "none" ? "–" : out ? "→" : "←";
      return make("li", {}, this.#button(out ? edge.target().id() : edge.source().id(), `${sign} ${edge.data("kind")}`, edge.data("kind")));
    });
    this.#parts.detail.replaceChildren(
      make("h2", {}, node.name),
      make("p", { className: "kind" }, this.#sign("node", node.type), make("span", {}, node.type), ...this.#links(node)),
      list,
      make("h3", {}, plural(edges.length, "edge")),
      make("ul", { className: "graph-list" }, ...items),
    );
    this.#parts.detail.parentElement.scrollTop = 0;
  }
}

const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));

const overlap = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;

function discOf(node, zoom) {
  const { x, y } = node.renderedPosition();
  const reach = (node.data("size") / 2) * zoom;
  return { id: node.id(), reach, left: x - reach, right: x + reach, top: y - reach, bottom: y + reach };
}

const widths = new Map();
const pen = document.createElement("canvas").getContext("2d");

function widthOf(text) {
  if (!widths.has(text)) {
    pen.font = `${FONT}px system-ui, sans-serif`;
    widths.set(text, pen.measureText(text).width);
  }
  return widths.get(text);
}
