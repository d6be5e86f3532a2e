// name: project
// mode: read
// params: graph, corpus, label, generation, chunks, title, link, similar, least, next
// Project a corpus for PageRank: chunks, the entities that several chunks mention, and weighted links between chunks.
// An entity's links have its inverse document frequency as weight; the weight of a link to a document is divided among its chunks.
CALL () {
  MATCH (c:$($label))
  WHERE <visible(c, $generation)>
  RETURN c AS source, null AS target, 1.0 AS weight
  UNION ALL
  MATCH (e:HopRankEntity {corpus: $corpus})
  CALL (e) {
    MATCH (e)<-[r:MENTIONS]-(c)
    WHERE <visible(r, $generation)> AND <visible(c, $generation)>
    RETURN collect(c) AS mentions
  }
  WITH e, mentions, size(mentions) AS frequency
  WHERE frequency > 1
  UNWIND mentions AS mention
  RETURN mention AS source, e AS target, log(1 + toFloat($chunks) / frequency) AS weight
  UNION ALL
  MATCH (c:$($label))-[r:REFERS_TO|LINKS_TO]->(d:HopRankDocument)
  WHERE <visible(r, $generation)> AND NOT <retired(c, $generation)>
  CALL (d) {
    MATCH (d)<-[p:PART_OF]-(t)
    WHERE <visible(p, $generation)> AND <visible(t, $generation)>
    RETURN collect(t) AS parts
  }
  UNWIND parts AS target
  RETURN c AS source, target, CASE type(r) WHEN 'REFERS_TO' THEN $title ELSE $link END / size(parts) AS weight
  UNION ALL
  MATCH (c:$($label))-[r:SIMILAR|NEXT]->(target:HopRankChunk)
  WHERE <visible(r, $generation)> AND NOT <retired(c, $generation)> AND NOT <retired(target, $generation)>
  RETURN c AS source, target, CASE type(r) WHEN 'SIMILAR' THEN $similar * r.score + $least ELSE $next END AS weight
}
WITH source, target, weight
RETURN gds.graph.project($graph, source, target, {relationshipProperties: {weight: weight}}, {undirectedRelationshipTypes: ['*']}) AS projected;

// name: projections
// mode: read
// All projections of the GDS catalog, oldest first.
CALL gds.graph.list() YIELD graphName, nodeCount, relationshipCount, sizeInBytes, creationTime
RETURN graphName AS name, nodeCount AS nodes, relationshipCount AS relationships, sizeInBytes AS bytes ORDER BY creationTime;

// name: drop_projection
// mode: read
// params: graph
// Drop a projection if it exists.
CALL gds.graph.drop($graph, false) YIELD graphName RETURN graphName;

// name: walk
// mode: read
// params: graph, chunk_seeds, entity_seeds, damping, iterations, tolerance, limit
// Personalised PageRank on a projection. Seeds are rows of {id, weight}; returns the best chunks.
// Each iteration starts a thread, so the tolerance, which ends the walk early, saves more than the number of nodes does. Progress
// logging and the estimate of memory take as long as half an iteration each.
CALL () {
  UNWIND $chunk_seeds AS seed
  MATCH (n:HopRankChunk {id: seed.id}) RETURN n, seed.weight AS weight
  UNION ALL
  UNWIND $entity_seeds AS seed
  MATCH (n:HopRankEntity {id: seed.id}) RETURN n, seed.weight AS weight
}
WITH collect([n, weight]) AS sources
WHERE size(sources) > 0
CALL gds.pageRank.stream($graph, {
  sourceNodes: sources, dampingFactor: $damping, maxIterations: $iterations, tolerance: $tolerance,
  relationshipWeightProperty: 'weight', concurrency: 1, logProgress: false, sudo: true
}) YIELD nodeId, score
WITH nodeId, score WHERE score > 0
ORDER BY score DESC LIMIT 4 * $limit
WITH gds.util.asNode(nodeId) AS c, score
WHERE c:HopRankChunk
WITH c, score LIMIT $limit
RETURN collect(c.id) AS ids, collect(score) AS scores;

// name: explore
// mode: read
// params: corpus, vector, texts, text, limit, names, seeds, first, k, hub, unnamed, boxes
// names: vector_index
// All reads of a search before its hits, in a single round trip.
// Candidates: vector (none without a vector) and full-text candidates as their legs return them, and the entities of names that the corpus has, each with
// its number of mentioning chunks, the only one if it is one, and whether a chunk is about it. Some are mentioned by thousands of
// chunks: these are counted by their relationships and not read. `admitted` is false if its only chunk is in none of the boxes.
// Expansion by k hops from the seeds: the chunks in seeds or, if null, the first of both rankings fused by reciprocal rank; the
// chunk of each name that a single chunk mentions; and the names. An entity of a seed chunk comes with all its chunks; with more
// than hub chunks it is not expanded, and comes with the seeds among them. A linked document of four or more chunks contributes its
// first chunk and the candidates. A question without a known name is expanded only if unnamed is true. With boxes of a filter's keys
// only chunks in them are expanded and returned; numbers count all.
// Both rankings are ordered as the client orders them, ties by id: it fuses them in the same way, and expects its seeds expanded.
// Outside of writes all nodes and edges are visible, and visibility isn't checked.
CYPHER 25
MATCH (corpus:HopRankCorpus {id: $corpus})
WITH corpus, corpus.generation AS generation, corpus.staging IS NULL AS settled, <alone_in_index(corpus)> AS alone
// near, near_scores: candidates by vector
CALL (corpus, generation, settled, alone) {
  CALL (corpus, generation, settled, alone) {
    WITH corpus WHERE settled AND alone AND $seeds IS NULL AND $vector IS NOT NULL
    MATCH (c:<vector_index>)
    SEARCH c IN (VECTOR INDEX <vector_index> FOR $vector LIMIT $limit) SCORE AS score
    WITH corpus, c, score WHERE c.corpus = corpus.id
    RETURN c, score
    UNION ALL
    WITH corpus WHERE settled AND NOT alone AND $seeds IS NULL AND $vector IS NOT NULL
    MATCH (c:<vector_index>)
    SEARCH c IN (VECTOR INDEX <vector_index> FOR $vector WHERE c.corpus = corpus.id LIMIT $limit) SCORE AS score
    RETURN c, score
    UNION ALL
    WITH corpus, generation, settled WHERE NOT settled AND $seeds IS NULL AND $vector IS NOT NULL
    MATCH (c:<vector_index>)
    SEARCH c IN (VECTOR INDEX <vector_index> FOR $vector
      WHERE c.corpus = corpus.id AND <visible(c, generation)> LIMIT $limit) SCORE AS score
    RETURN c, score
  }
  WITH c.id AS id, c.document AS document, score ORDER BY score DESC, id
  RETURN collect(id) AS near, collect(score) AS near_scores, collect(document) AS near_documents
}
// matching, matching_scores: candidates by full text, as fulltext_candidates reads them
CALL (corpus, generation, settled) {
  CALL (corpus, generation, settled) {
    WITH <text_index($texts)> AS index, settled WHERE settled AND $text <> '' AND $seeds IS NULL
    CALL db.index.fulltext.queryNodes(index, $text, {limit: $limit}) YIELD node AS c, score
    RETURN c, score
    UNION ALL
    WITH <text_index($texts)> AS index, generation, settled WHERE NOT settled AND $text <> '' AND $seeds IS NULL
    CALL db.index.fulltext.queryNodes(index, $text) YIELD node AS c, score
    WITH generation, c, score WHERE <visible(c, generation)>
    RETURN c, score LIMIT $limit
  }
  WITH c.id AS id, c.document AS document, score ORDER BY score DESC, id
  RETURN collect(id) AS matching, collect(score) AS matching_scores, collect(document) AS matching_documents
}
// named: the entities of the question's names
CALL (generation, settled) {
  UNWIND $names AS name
  MATCH (e:HopRankEntity {id: name})
  WITH generation, settled, e, CASE WHEN settled THEN COUNT { (e)<-[:MENTIONS]-() }
    ELSE COUNT { (e)<-[r:MENTIONS]-(c) WHERE <visible(r, generation)> AND <visible(c, generation)> } END AS frequency
  WHERE frequency > 0
  CALL (generation, settled, e, frequency) {
    WITH generation, settled, e WHERE frequency = 1
    MATCH (e)<-[r:MENTIONS]-(c)
    WHERE settled OR (<visible(r, generation)> AND <visible(c, generation)>)
    RETURN collect(c) AS only
  }
  WITH e, frequency, only, EXISTS {
    (e)<-[r:MENTIONS]-(c) WHERE r.about AND (settled OR (<visible(r, generation)> AND <visible(c, generation)>))
  } AS about
  RETURN collect({id: e.id, name: e.name, frequency: frequency, chunk: head(only).id, about: about,
    admitted: size(only) = 0 OR size([c IN only WHERE <in_boxes(c, $boxes)>]) > 0}) AS named
}
// best: both rankings, fused
CALL (near, matching) {
  CALL (near, matching) {
    UNWIND range(0, size(near) - 1) AS place
    RETURN near[place] AS id, 1.0 / ($k + place + 1) AS term
    UNION ALL
    UNWIND range(0, size(matching) - 1) AS place
    RETURN matching[place] AS id, 1.0 / ($k + place + 1) AS term
  }
  WITH id, sum(term) AS score ORDER BY score DESC, id LIMIT $first
  RETURN collect(id) AS best
}
// chunks: the seeds to expand
WITH *, CASE WHEN $unnamed OR size(named) > 0
  THEN coalesce($seeds, best) + [name IN named WHERE name.frequency = 1 AND name.admitted | name.chunk] ELSE [] END AS some_twice
CALL (some_twice) {
  UNWIND some_twice AS id
  RETURN collect(DISTINCT id) AS chunks
}
// candidates: both rankings, or the seeds; and the documents of these chunks, by key
WITH *, [place IN range(0, size(matching) - 1) WHERE NOT matching[place] IN near] AS further
CALL () {
  UNWIND coalesce($seeds, []) AS id
  MATCH (c:HopRankChunk {id: id})
  RETURN collect(c.id) AS given, collect(c.document) AS given_documents
}
WITH *, given + near + [place IN further | matching[place]] AS candidates,
  given_documents + near_documents + [place IN further | matching_documents[place]] AS documents
// mentions: [entity, how many chunks mention it, [[chunk, about], ...]]
CALL (settled, generation, chunks, named) {
  CALL (settled, generation, chunks, named) {
    UNWIND chunks AS id
    MATCH (c:HopRankChunk {id: id})-[r:MENTIONS]->(e)
    WHERE settled OR <visible(r, generation)>
    RETURN e, [id, r.about] AS mention
    UNION ALL
    UNWIND named AS name
    MATCH (e:HopRankEntity {id: name.id})
    RETURN e, null AS mention
  }
  WITH settled, generation, e, collect(mention) AS of_seeds, CASE WHEN settled THEN COUNT { (e)<-[:MENTIONS]-() }
    ELSE COUNT { (e)<-[r:MENTIONS]-(c) WHERE <visible(r, generation)> AND <visible(c, generation)> } END AS frequency
  WHERE frequency > 1
  CALL (settled, generation, e, frequency) {
    WITH settled, generation, e WHERE frequency <= $hub
    MATCH (e)<-[r:MENTIONS]-(c)
    WHERE (settled OR (<visible(r, generation)> AND <visible(c, generation)>)) AND <in_boxes(c, $boxes)>
    RETURN collect([c.id, r.about]) AS of_all
  }
  RETURN collect([e.id, frequency, CASE WHEN frequency > $hub THEN of_seeds ELSE of_all END]) AS mentions
}
// links: [seed, type, [chunk of the linked document, ...], their number, similarity of the link's sentence to the question or null]
CALL (settled, generation, chunks, candidates, documents) {
  UNWIND chunks AS id
  MATCH (:HopRankChunk {id: id})-[r:REFERS_TO|LINKS_TO]->(d)
  WHERE settled OR <visible(r, generation)>
  WITH settled, generation, candidates, documents, d, collect([id, r]) AS sources
  MATCH (d)<-[p:PART_OF]-(t)
  WHERE settled OR (<visible(p, generation)> AND <visible(t, generation)>)
  WITH candidates, documents, d, sources, collect(t) AS parts
  WITH candidates, documents, d, sources, size(parts) < 4 AS small,
    [t IN parts WHERE size(parts) < 4 OR t.ordinal = 0] AS parts
  WITH sources, parts, CASE WHEN small THEN [] ELSE [place IN range(0, size(candidates) - 1)
    WHERE documents[place] = d.key AND NOT candidates[place] IN [t IN parts | t.id] | candidates[place]] END AS more
  WITH sources, size(parts) + size(more) AS number, [t IN parts WHERE <in_boxes(t, $boxes)> | t.id] + more AS parts
  UNWIND sources AS source
  WITH source[0] AS id, source[1] AS r, number, parts
  RETURN collect([id, type(r), parts, number,
    CASE WHEN r.embedding IS NULL THEN null ELSE vector.similarity.cosine(r.embedding, $vector) END]) AS links
}
// backlinks: [chunk, type, seed, how many chunks the seed's document has, similarity as above]
CALL (settled, generation, chunks) {
  UNWIND chunks AS id
  MATCH (:HopRankChunk {id: id})-[:PART_OF]->(d)
  WITH settled, generation, id, d, CASE WHEN settled THEN COUNT { (d)<-[:PART_OF]-() }
    ELSE COUNT { (d)<-[p:PART_OF]-(part) WHERE <visible(p, generation)> AND <visible(part, generation)> } END AS parts
  MATCH (d)<-[r:REFERS_TO|LINKS_TO]-(t)
  WHERE (settled OR (<visible(r, generation)> AND <visible(t, generation)>)) AND <in_boxes(t, $boxes)>
  WITH id, parts, r, t LIMIT 1000
  RETURN collect([t.id, type(r), id, parts,
    CASE WHEN r.embedding IS NULL THEN null ELSE vector.similarity.cosine(r.embedding, $vector) END]) AS backlinks
}
// beside: [seed, chunk, type, cosine or null]
CALL (settled, generation, chunks) {
  UNWIND chunks AS id
  MATCH (:HopRankChunk {id: id})-[r:SIMILAR|NEXT]-(t)
  WHERE (settled OR <visible(r, generation)>) AND <in_boxes(t, $boxes)>
  RETURN collect([id, t.id, type(r), r.score]) AS beside
}
<still_visible_now($corpus, beside, settled)>
RETURN name, generation, now, corpus.chunks AS chunks, corpus.entities AS entities,
       near, near_scores, matching, matching_scores, named, mentions, links, backlinks, beside;
