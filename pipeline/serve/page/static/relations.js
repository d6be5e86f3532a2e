// Words for the relationships of a corpus's graph.

import { EDGES } from "./edges.js";

/** Return the words for a relationship of this type that is followed from a node of this kind. */
export function relation(type, fromKind) {
  // Every relationship starts at a chunk; those that also end at one read the same both ways.
  return EDGES[type]?.[fromKind.toLowerCase() === "chunk" ? "along" : "against"] ?? type;
}

/** Return the steps of a path as they are shown: a document and its own passage are one place to a reader. */
export function shownSteps(steps) {
  const shown = [];
  let by = null;
  for (const [place, step] of steps.entries()) {
    const next = steps[place + 1];
    by ??= step.by;
    if (next?.by === "PART_OF" && next.name === step.name) continue;
    shown.push({ ...step, by });
    by = null;
  }
  return shown;
}
