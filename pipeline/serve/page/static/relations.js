// Words for the relationships of a corpus's graph.

const FORWARD = { MENTIONS: "mentions", REFERS_TO: "names", LINKS_TO: "links to", PART_OF: "is part of" };
const BACKWARD = { MENTIONS: "is mentioned in", REFERS_TO: "is named in", LINKS_TO: "is linked from", PART_OF: "holds" };
const BOTH_WAYS = { NEXT: "stands beside", SIMILAR: "resembles" };

/** Return the words for a relationship of this type that is followed from a node of this kind. */
export function relation(type, fromKind) {
  // Every one-way relationship starts at a chunk and ends at an entity or a document.
  const words = fromKind.toLowerCase() === "chunk" ? FORWARD : BACKWARD;
  return BOTH_WAYS[type] ?? words[type] ?? type;
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
