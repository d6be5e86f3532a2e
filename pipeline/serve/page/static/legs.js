// The legs: ways to rank passages.

/** Names of the legs with what they rank by. */
export const LEGS = {
  hoprank: "text and graph, fused",
  hybrid: "vector and full text, fused",
  vector: "meaning",
  fulltext: "words",
  bm25: "words, scored in Python",
  hops: "steps from the seeds",
  graph: "PageRank from the seeds",
  scorer: "features of candidates",
};

/** Fill a select with the legs. */
export function fillLegs(select) {
  for (const [name, what] of Object.entries(LEGS)) select.append(new Option(`${name} – ${what}`, name));
}
