// A plot of a distribution of degrees, both axes logarithmic, made of SVG elements.
import { number, plural } from "./dom.js";

const SVG = "http://www.w3.org/2000/svg";
const [WIDTH, HEIGHT] = [260, 180];
const [LEFT, RIGHT, TOP, BOTTOM] = [46, 12, 20, 36];
const PADDING = 0.05;
const ROOM = 1.3;

/** Return the plot for points of a degree and the number of chunks that have it. */
export function degreePlot(type, points) {
  const x = scale(points.map(({ degree }) => degree), LEFT, WIDTH - RIGHT);
  const y = scale(points.map(({ chunks }) => chunks), HEIGHT - BOTTOM, TOP);
  const svg = element("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": described(type, points) });
  for (const tick of x.ticks) {
    svg.append(element("line", { class: "grid", x1: x(tick), x2: x(tick), y1: TOP, y2: HEIGHT - BOTTOM }));
    svg.append(text(number(tick), { x: x(tick), y: HEIGHT - BOTTOM + 14, "text-anchor": "middle" }));
  }
  for (const tick of y.ticks) {
    svg.append(element("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(tick), y2: y(tick) }));
    svg.append(text(number(tick), { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }));
  }
  svg.append(text("edges of a chunk", { x: (LEFT + WIDTH - RIGHT) / 2, y: HEIGHT - 4, "text-anchor": "middle", class: "axis" }));
  svg.append(text("chunks", { x: LEFT - 6, y: 10, "text-anchor": "end", class: "axis" }));
  for (const { degree, chunks } of points) {
    const stem = element("line", { class: "stem", x1: x(degree), x2: x(degree), y1: HEIGHT - BOTTOM, y2: y(chunks) });
    const dot = element("circle", { cx: x(degree), cy: y(chunks), r: 3.5 });
    dot.append(element("title", {}, `${plural(chunks, "chunk")} with ${plural(degree, "edge")}`));
    svg.append(stem, dot);
  }
  return svg;
}

/** Return a function from a value, at least 1, to its place on a logarithmic axis, with the ticks to label. */
function scale(values, from, to) {
  const most = Math.max(2, ...values);
  const place = (value) => {
    const share = (Math.log10(value) / Math.log10(most) + PADDING) / (1 + 2 * PADDING);
    return Math.round(10 * (from + share * (to - from))) / 10;
  };
  return Object.assign(place, { ticks: ticks(most) });
}

/** Return the values to label: round ones, and the greatest if there is room for it. */
function ticks(most) {
  const steps = most > 200 ? [1] : most > 12 ? [1, 2, 5] : [1, 2, 3, 5];
  const decades = [...Array(Math.floor(Math.log10(most)) + 1).keys()];
  const round = decades.flatMap((decade) => steps.map((step) => step * 10 ** decade)).filter((tick) => tick <= most);
  return most / round.at(-1) >= ROOM ? [...round, most] : round;
}

function described(type, points) {
  const [all, edges] = points.reduce(([count, sum], { degree, chunks }) => [count + chunks, sum + degree * chunks], [0, 0]);
  const most = Math.max(...points.map(({ degree }) => degree));
  return `${type}: ${plural(all, "chunk")} with ${(edges / all).toFixed(1)} edges on average and ${number(most)} at most`;
}

function element(tag, attributes, words) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (words) made.textContent = words;
  return made;
}

const text = (words, attributes) => element("text", attributes, words);
