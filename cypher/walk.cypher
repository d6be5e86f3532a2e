// name: project
// mode: read
// params: graph, corpus, label, generation, chunks, about, title, link, similar, next
// Project a corpus for PageRank: chunks, the entities that more than one of them mentions, and weighted links between chunks.
// An entity's links weigh its inverse document frequency, times `about` for what a chunk is about; a link to a document
// is shared out among the document's chunks.
CALL () {
  MATCH (c:$($label))
  WHERE c.since <= $generation AND c.until > $generation
  RETURN c AS source, null AS target, 1.0 AS weight
  UNION ALL
  MATCH (e:Entity {corpus: $corpus})
  CALL (e) {
    MATCH (e)<-[r:MENTIONS]-(c)
    WHERE r.since <= $generation AND r.until > $generation AND c.since <= $generation AND c.until > $generation
    RETURN collect([c, CASE WHEN r.about THEN $about ELSE 1.0 END]) AS mentions
  }
  WITH e, mentions, size(mentions) AS frequency
  WHERE frequency > 1
  UNWIND mentions AS mention
  RETURN mention[0] AS source, e AS target, mention[1] * log(1 + toFloat($chunks) / frequency) AS weight
  UNION ALL
  MATCH (c:$($label))-[r:REFERS_TO|LINKS_TO]->(d:Document)
  WHERE r.since <= $generation AND r.until > $generation AND c.until > $generation
  CALL (d) {
    MATCH (d)<-[p:PART_OF]-(t)
    WHERE p.since <= $generation AND p.until > $generation AND t.since <= $generation AND t.until > $generation
    RETURN collect(t) AS parts
  }
  UNWIND parts AS target
  RETURN c AS source, target, CASE type(r) WHEN 'REFERS_TO' THEN $title ELSE $link END / size(parts) AS weight
  UNION ALL
  MATCH (c:$($label))-[r:SIMILAR|NEXT]->(target:Chunk)
  WHERE r.since <= $generation AND r.until > $generation AND c.until > $generation AND target.until > $generation
  RETURN c AS source, target, CASE type(r) WHEN 'SIMILAR' THEN $similar * r.score ELSE $next END AS weight
}
WITH source, target, weight
RETURN gds.graph.project($graph, source, target, {relationshipProperties: {weight: weight}}, {undirectedRelationshipTypes: ['*']}) AS projected;

// name: projections
// mode: read
// Every projection of the GDS catalog, oldest first.
CALL gds.graph.list() YIELD graphName, nodeCount, relationshipCount, sizeInBytes, creationTime
RETURN graphName AS name, nodeCount AS nodes, relationshipCount AS relationships, sizeInBytes AS bytes ORDER BY creationTime;

// name: drop_projection
// mode: read
// params: graph
// Drop a projection; none of that name is no fault.
CALL gds.graph.drop($graph, false) YIELD graphName RETURN graphName;

// name: walk
// mode: read
// params: graph, chunk_seeds, entity_seeds, damping, iterations, tolerance, limit
// Personalised PageRank over a projection from seeds, rows of {id, weight}; the best chunks.
CALL () {
  UNWIND $chunk_seeds AS seed
  MATCH (n:Chunk {id: seed.id}) RETURN n, seed.weight AS weight
  UNION ALL
  UNWIND $entity_seeds AS seed
  MATCH (n:Entity {id: seed.id}) RETURN n, seed.weight AS weight
}
WITH collect([n, weight]) AS sources
WHERE size(sources) > 0
CALL gds.pageRank.stream($graph, {
  sourceNodes: sources, dampingFactor: $damping, maxIterations: $iterations, tolerance: $tolerance,
  relationshipWeightProperty: 'weight', concurrency: 1
}) YIELD nodeId, score
WITH nodeId, score WHERE score > 0
ORDER BY score DESC LIMIT 4 * $limit
WITH gds.util.asNode(nodeId) AS c, score
WHERE c:Chunk
WITH c, score LIMIT $limit
RETURN collect(c.id) AS ids, collect(score) AS scores;

// name: neighbourhood
// mode: read
// params: corpus, generation, chunks, entities, near, hub
// The k-hop expansion of seeds, chunks and entities by id: all that mention an entity that a seed mentions or that is a
// seed, unless more than hub chunks do (then the seeds among them), and the links of the seed chunks in both directions. Of
// a linked document of many parts its first and those in near are taken. Where nothing is being written, all is visible.
CYPHER 25
MATCH (corpus:Corpus {id: $corpus})
WITH corpus.staging IS NULL AND corpus.generation = $generation AS settled
CALL (settled) {
  CALL (settled) {
    UNWIND $chunks AS id
    MATCH (c:Chunk {id: id})-[r:MENTIONS]->(e)
    WHERE settled OR (r.since <= $generation AND r.until > $generation)
    RETURN e, [id, r.about] AS mention
    UNION ALL
    UNWIND $entities AS id
    MATCH (e:Entity {id: id})
    RETURN e, null AS mention
  }
  WITH settled, e, collect(mention) AS of_seeds, COUNT { (e)<-[:MENTIONS]-() } AS frequency
  WHERE frequency > 1
  CALL (settled, e, frequency) {
    WITH settled, e WHERE frequency <= $hub
    MATCH (e)<-[r:MENTIONS]-(c)
    WHERE settled OR (r.since <= $generation AND r.until > $generation AND c.since <= $generation AND c.until > $generation)
    RETURN collect([c.id, r.about]) AS of_all
  }
  RETURN collect([e.id, frequency, CASE WHEN frequency > $hub THEN of_seeds ELSE of_all END]) AS mentions
}
CALL (settled) {
  UNWIND $chunks AS id
  MATCH (:Chunk {id: id})-[r:REFERS_TO|LINKS_TO]->(d)
  WHERE settled OR (r.since <= $generation AND r.until > $generation)
  MATCH (d)<-[p:PART_OF]-(t)
  WHERE settled OR (p.since <= $generation AND p.until > $generation AND t.since <= $generation AND t.until > $generation)
  WITH id, r, collect(t) AS parts
  WITH id, r, CASE WHEN size(parts) < 4 THEN parts ELSE [t IN parts WHERE t.ordinal = 0 OR t.id IN $near] END AS parts
  RETURN collect([id, type(r), [t IN parts | t.id]]) AS links
}
CALL (settled) {
  UNWIND $chunks AS id
  MATCH (:Chunk {id: id})-[:PART_OF]->(d)
  WITH id, d, COUNT { (d)<-[:PART_OF]-() } AS parts
  MATCH (d)<-[r:REFERS_TO|LINKS_TO]-(t)
  WHERE settled OR (r.since <= $generation AND r.until > $generation AND t.since <= $generation AND t.until > $generation)
  WITH id, parts, r, t LIMIT 1000
  RETURN collect([t.id, type(r), id, parts]) AS backlinks
}
CALL (settled) {
  UNWIND $chunks AS id
  MATCH (:Chunk {id: id})-[r:SIMILAR|NEXT]-(t)
  WHERE settled OR (r.since <= $generation AND r.until > $generation)
  RETURN collect([id, t.id, type(r), r.score]) AS beside
}
RETURN mentions, links, backlinks, beside;

// name: paths
// mode: read
// params: generation, seeds, hits
// For each hit the shortest way to it from a seed, best seed first: names and relationship types along it.
CYPHER 25
UNWIND $hits AS hit
MATCH (c:Chunk {id: hit})
CALL (c) {
  UNWIND $seeds AS seed
  MATCH (s:Chunk|Entity {id: seed})
  WHERE s <> c
  MATCH p = SHORTEST 1 (s)-[r:MENTIONS|REFERS_TO|LINKS_TO|PART_OF|SIMILAR|NEXT WHERE r.since <= $generation AND r.until > $generation]-{1,4}(c)
  RETURN p, length(p) AS steps LIMIT 8
}
WITH c, p ORDER BY length(p)
WITH c, collect(p)[0] AS p
RETURN c.id AS id, [n IN nodes(p) | {labels: labels(n), name: coalesce(n.name, n.title, n.key), id: n.id}] AS nodes, [r IN relationships(p) | type(r)] AS kinds;
