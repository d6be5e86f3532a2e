"use strict";
// The graph's texts are untrusted: set them as text, never as markup.
(() => {
  const graph = JSON.parse(document.getElementById("data").textContent);
  const at = (id) => document.getElementById(id);
  const plural = (count, word) => `${count.toLocaleString("en")} ${word}${count === 1 ? "" : "s"}`;
  const make = (tag, text, properties = {}) => Object.assign(document.createElement(tag), { textContent: text }, properties);
  const colours = (types) => new Map(types.map(([type, , colour]) => [type, colour]));
  const edgeColour = colours(graph.edge_types);
  const nodeColour = colours(graph.node_types);
  const byKey = new Map(graph.nodes.map((node, index) => [`n${index}`, node]));

  const cy = cytoscape({
    container: at("graph"),
    elements: {
      nodes: graph.nodes.map((node, index) => ({ data: { id: `n${index}`, name: node.name, size: node.size, colour: nodeColour.get(node.type) }, position: { x: node.x, y: node.y } })),
      edges: graph.edges.map((edge, index) => ({ data: { id: `e${index}`, source: `n${edge.source}`, target: `n${edge.target}`, type: edge.type, colour: edgeColour.get(edge.type), width: edge.width, arrow: edge.directed ? "triangle" : "none" } })),
    },
    layout: { name: "preset" },
    minZoom: 0.02,
    maxZoom: 6,
    style: [
      { selector: "node", style: { width: "data(size)", height: "data(size)", "background-color": "data(colour)", label: "data(name)", "font-size": "mapData(size, 14, 60, 12, 30)", "min-zoomed-font-size": 9, color: "#1d2733", "text-wrap": "ellipsis", "text-max-width": 240, "text-valign": "bottom", "text-margin-y": 3, "text-background-color": "#fbfcfd", "text-background-opacity": 0.75, "border-width": 1, "border-color": "#fff" } },
      { selector: "edge", style: { width: "data(width)", "line-color": "data(colour)", "target-arrow-color": "data(colour)", "target-arrow-shape": "data(arrow)", "arrow-scale": 0.8, "curve-style": "bezier", opacity: 0.55 } },
      { selector: ".faded", style: { opacity: 0.12, "text-opacity": 0 } },
      { selector: "edge.faded", style: { opacity: 0.04 } },
      { selector: ".highlighted", style: { opacity: 1 } },
      { selector: "node.chosen", style: { "border-width": 4, "border-color": "#111", "z-index": 10 } },
      { selector: ".hidden", style: { display: "none" } },
    ],
  });

  const highlight = (elements) => {
    cy.elements().removeClass("faded highlighted");
    if (elements) {
      cy.elements().addClass("faded");
      elements.removeClass("faded").addClass("highlighted");
    }
  };

  const shown = (value) => (typeof value === "string" ? value : JSON.stringify(value));

  const detail = (key) => {
    const node = byKey.get(key);
    const panel = at("detail");
    panel.replaceChildren(make("h3", node.name), make("div", node.type === node.name ? "" : node.type));
    const list = make("dl", "");
    const fields = [["id", node.id], ["labels", node.labels.join(", ")], ["parent", node.parent_id], ["PageRank", `${(100 * node.pagerank).toFixed(2)}%`], ...Object.entries(node.properties)];
    for (const [name, value] of fields) {
      if (value !== null && value !== undefined && value !== "") list.append(make("dt", name), make("dd", shown(value)));
    }
    panel.append(list);
    const edges = cy.getElementById(key).connectedEdges(":visible");
    panel.append(make("h2", plural(edges.length, "edge")));
    const links = make("ul", "");
    edges.sort((a, b) => b.data("width") - a.data("width")).forEach((edge) => {
      const out = edge.source().id() === key;
      const other = out ? edge.target().id() : edge.source().id();
      const sign = edge.data("arrow") === "none" ? "–" : out ? "→" : "←";
      const button = make("button", `${sign} ${byKey.get(other).name} `, { type: "button", onclick: () => choose(other, true) });
      button.append(make("small", edge.data("type")));
      button.style.borderLeft = `4px solid ${edge.data("colour")}`;
      const item = make("li", "");
      item.append(button);
      links.append(item);
    });
    panel.append(links);
    panel.parentElement.scrollTop = 0;
  };

  const choose = (key, move = false) => {
    const node = cy.getElementById(key);
    cy.nodes().removeClass("chosen");
    node.addClass("chosen");
    highlight(node.closedNeighborhood());
    if (move) cy.animate({ center: { eles: node } }, { duration: 200 });
    detail(key);
  };

  const clear = () => {
    cy.nodes().removeClass("chosen");
    at("detail").replaceChildren();
    highlight(null);
  };

  const searched = graph.nodes.map((node) => [node.name, node.id, node.type, ...node.labels, ...Object.values(node.properties).map(shown)].join("\n").toLowerCase());
  const search = () => {
    const words = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    if (!words.length) {
      at("matches").textContent = "";
      clear();
      return [];
    }
    const matches = searched.flatMap((text, index) => (words.every((word) => text.includes(word)) ? [`n${index}`] : []));
    at("matches").textContent = plural(matches.length, "node");
    highlight(cy.collection(matches.map((key) => cy.getElementById(key))));
    return matches;
  };
  at("search").addEventListener("input", search);
  at("search").addEventListener("keydown", (event) => {
    const matches = event.key === "Enter" ? search() : [];
    if (matches.length) choose(matches.reduce((best, key) => (byKey.get(key).size > byKey.get(best).size ? key : best)), true);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    at("search").value = "";
    search();
  });
  at("fit").addEventListener("click", () => cy.animate({ fit: { eles: cy.elements(":visible"), padding: 30 } }, { duration: 200 }));
  cy.on("tap", "node", (event) => choose(event.target.id()));
  cy.on("tap", (event) => { if (event.target === cy) clear(); });

  const legend = (list, types, mark, toggle) => {
    for (const [type, count, colour] of types) {
      const item = make("li", "");
      const label = make("label", "");
      const sign = make("span", "", { className: mark });
      sign.style[mark === "line" ? "borderTopColor" : "background"] = colour;
      if (toggle) {
        const box = make("input", "", { type: "checkbox", checked: true });
        box.addEventListener("change", () => cy.edges().filter((edge) => edge.data("type") === type).toggleClass("hidden", !box.checked));
        label.append(box);
      }
      label.append(sign, make("span", type), make("span", count.toLocaleString("en"), { className: "count" }));
      item.append(label);
      at(list).append(item);
    }
  };
  legend("edge-types", graph.edge_types, "line", true);
  legend("node-types", graph.node_types, "dot", false);
  at("name").textContent = graph.name;
  const all = graph.total_nodes > graph.nodes.length ? ` of ${graph.total_nodes.toLocaleString("en")}, the most important` : "";
  at("counts").textContent = `${plural(graph.nodes.length, "node")}${all}; ${plural(graph.edges.length, "edge")}`;
  cy.fit(undefined, 30);
  window.addEventListener("resize", () => cy.resize());
  // Used by tests and in the browser's console.
  window.hoprank = { cy, choose, search };
})();
