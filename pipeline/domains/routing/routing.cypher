// The state of the project graph and of the corpora, which a routed search begins with.

// name: routing_state
// mode: read
// params: name
// The knowledge graph of that name, whose version counts its changes, and all corpora that have a visible generation, as lists of
// name, id and fingerprint; no row without the graph. Whole corpora would take three times as long to read.
MATCH (g:HopRankKnowledgeGraph {name: $name})
CALL () {
  MATCH (c:HopRankCorpus)
  WHERE c.generation > 0
  RETURN collect([c.name, c.id, c.fingerprint]) AS corpora
}
RETURN g.id AS id, g.version AS version, corpora;
