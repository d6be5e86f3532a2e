// Nodes of a corpus's graph as people read them.

/** Return the name of a node: of a passage its title and its place in the document, counted from 1. */
export function nameOf({ id, type, properties }) {
  if (type === "entity") return properties.name || properties.key || id;
  const title = properties.title || properties.key || properties.document || id;
  return type === "chunk" ? `${title} ¶${properties.ordinal + 1}` : title;
}

/** Words for the types of nodes. */
export const KINDS = { chunk: "chunk", entity: "entity", document: "document" };
