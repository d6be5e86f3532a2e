// Entities and facts of a memory: nodes and edges of a knowledge graph, read at one time of the world and of its knowledge.
// See cypher/knowledge/time.cypher. Edges of the type "mentions" lead from the nodes of texts to entities; the others are facts.

// name: memory_entities_named
// mode: read
// params: graph, label, name, type, scope, moment, as_of, known_at
// The entities with this name or alias, whatever its case; of a type and scope unless these are null.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled, toLower($name) AS wanted
MATCH (n:$($label))
WHERE n.name IS NOT NULL AND (n.id = $name OR toLower(n.name) = wanted OR any(alias IN n.aliases WHERE toLower(alias) = wanted))
  AND ($type IS NULL OR n.type = $type) AND ($scope IS NULL OR n.scope = $scope)
  AND <current(n, settled, $as_of, $known_at)>
RETURN properties(n) AS stored
ORDER BY CASE WHEN n.id = $name THEN 0 WHEN n.name = $name THEN 1 WHEN toLower(n.name) = wanted THEN 2 WHEN $name IN n.aliases THEN 3 ELSE 4 END,
         n.mention_count DESC, n.id
LIMIT 20;

// name: memory_entity_names
// mode: read
// params: label
// The names and aliases of all entities: what a text may mention. One is not its own if nothing but that texts share its name is known.
MATCH (n:$($label)) WHERE n.name IS NOT NULL AND n.expired_at IS NULL
RETURN n.id AS id, n.type AS type, n.name AS name, coalesce(n.aliases, []) AS aliases, n.scope AS scope,
       NOT EXISTS { MATCH (n)<-[r]-() WHERE r.shared }
         OR EXISTS { MATCH (n)-[r]-() WHERE r.key IS NOT NULL AND r.shared IS NULL } AS own;

// name: memory_entities_of_type
// mode: read
// params: graph, type, scope, limit, moment, as_of, known_at
// The entities of a type that are there, those with the most mentions first. An entity is there while something holds of it, or if
// nothing is known of it at all.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (n:HopRankKnowledgeNode {graph: $graph, type: $type})
WHERE n.name IS NOT NULL AND ($scope IS NULL OR n.scope = $scope) AND <current(n, settled, $as_of, $known_at)>
  AND (EXISTS { MATCH (n)-[r]-(m:HopRankKnowledgeNode) WHERE r.key IS NOT NULL AND <joined(n, r, m, settled, $as_of, $known_at)> }
    OR NOT EXISTS { MATCH (n)-[r]-(:HopRankKnowledgeNode) WHERE r.key IS NOT NULL AND coalesce(r.created_at, '') <= $known_at })
RETURN properties(n) AS stored ORDER BY n.mention_count DESC, n.id LIMIT $limit;

// name: memory_present
// mode: read
// params: graph, keys, moment, as_of, known_at
// Those of these entities that are there; see memory_entities_of_type.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
UNWIND $keys AS key
MATCH (n:HopRankKnowledgeNode {key: key})
WHERE <current(n, settled, $as_of, $known_at)> AND (EXISTS { MATCH (n)-[r]-(m:HopRankKnowledgeNode) WHERE r.key IS NOT NULL AND <joined(n, r, m, settled, $as_of, $known_at)> }
    OR NOT EXISTS { MATCH (n)-[r]-(:HopRankKnowledgeNode) WHERE r.key IS NOT NULL AND coalesce(r.created_at, '') <= $known_at })
RETURN n {.*, embedding: null} AS stored;

// name: memory_facts_of
// mode: read
// params: graph, keys, types, excluded, direction, limit, moment, as_of, known_at
// The facts of entities in a direction, heaviest first, each with the other entity. Mentions count only if a type names them.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
UNWIND $keys AS key
MATCH (n:HopRankKnowledgeNode {key: key})-[r]-(m:HopRankKnowledgeNode)
WHERE r.key IS NOT NULL AND ($types IS NULL AND r.type <> $excluded OR r.type IN $types)
  AND ($direction = 'both' OR ($direction = 'out' AND startNode(r) = n) OR ($direction = 'in' AND endNode(r) = n))
  AND <joined(n, r, m, settled, $as_of, $known_at)>
RETURN DISTINCT n.id AS entity, properties(r) AS stored, startNode(r).id AS source, endNode(r).id AS target, properties(m) AS other,
       r.weight AS weight, r.confidence AS confidence, m.id AS id
ORDER BY weight DESC, confidence DESC, id LIMIT $limit;

// name: memory_facts_among
// mode: read
// params: graph, groups, excluded, limit, moment, as_of, known_at
// The facts among the entities of each group of keys, heaviest first; `place` is the group's place in the list, from 0.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
UNWIND range(0, size($groups) - 1) AS place
CALL (place, settled) {
  UNWIND $groups[place] AS key
  MATCH (n:HopRankKnowledgeNode {key: key})-[r]->(m:HopRankKnowledgeNode)
  WHERE m.key IN $groups[place] AND r.key IS NOT NULL AND r.type <> $excluded AND <joined(n, r, m, settled, $as_of, $known_at)>
  WITH n, r, m, n.id < m.id AS forth
  RETURN r, n.id AS source, m.id AS target
  ORDER BY r.weight DESC, r.confidence DESC, CASE WHEN forth THEN n.id ELSE m.id END, CASE WHEN forth THEN m.id ELSE n.id END, r.id
  LIMIT $limit
}
RETURN place, properties(r) AS stored, source, target;

// name: memory_most_mentioned
// mode: read
// params: graph, groups, limit, moment, as_of, known_at
// The entities with the most mentions of each group of keys; `place` is the group's place in the list, from 0.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
UNWIND range(0, size($groups) - 1) AS place
CALL (place, settled) {
  UNWIND $groups[place] AS key
  MATCH (n:HopRankKnowledgeNode {key: key}) WHERE <current(n, settled, $as_of, $known_at)>
  RETURN n ORDER BY n.mention_count DESC, n.id LIMIT $limit
}
RETURN place, properties(n) AS stored;

// name: memory_versions
// mode: read
// params: key, excluded, type, other
// Every version of the facts of an entity, believed or not: of one type and with one other entity unless these are null.
MATCH (n:HopRankKnowledgeNode {key: $key})-[r]-(m)
WHERE r.key IS NOT NULL AND r.type <> $excluded AND ($type IS NULL OR r.type = $type) AND ($other IS NULL OR m.key = $other)
RETURN DISTINCT properties(r) AS stored, startNode(r).id AS source, endNode(r).id AS target, r.created_at AS created, r.valid_at AS valid
ORDER BY coalesce(valid, ''), created, source, target;

// name: memory_most_connected
// mode: read
// params: graph, label, excluded, type, scope, limit, moment, as_of, known_at
// The entities with the most facts, and how many lead out of and into them.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (n:$($label))
WHERE n.name IS NOT NULL AND ($type IS NULL OR n.type = $type) AND ($scope IS NULL OR n.scope = $scope)
CALL (n, settled) {
  MATCH (n)-[r]-(m)
  WHERE r.key IS NOT NULL AND r.type <> $excluded AND <joined(n, r, m, settled, $as_of, $known_at)>
  RETURN count(CASE WHEN startNode(r) = n THEN 1 END) AS outgoing, count(CASE WHEN endNode(r) = n THEN 1 END) AS incoming
}
WITH n, outgoing, incoming WHERE outgoing + incoming > 0
RETURN properties(n) AS stored, outgoing, incoming ORDER BY outgoing + incoming DESC, n.id LIMIT $limit;

// name: memory_believed_facts
// mode: read
// params: label, excluded, types, scope
// Every version that hasn't expired, of these types and a scope unless null.
MATCH (a:$($label))-[r]->(b)
WHERE r.key IS NOT NULL AND r.type <> $excluded AND r.expired_at IS NULL AND ($types IS NULL OR r.type IN $types)
  AND ($scope IS NULL OR r.scope = $scope)
RETURN properties(r) AS stored, a.id AS source, b.id AS target;

// name: memory_shared_names
// mode: read
// params: corpus, minimum, generation
// The names in the texts of a corpus that several documents share, and these. A title isn't what a text says: names that only it has are left out.
MATCH (e:HopRankEntity {corpus: $corpus})<-[r:MENTIONS]-(c:HopRankChunk)
WHERE NOT r.about AND <visible(r, $generation)> AND <visible(c, $generation)>
WITH e, collect(DISTINCT c.document) AS documents WHERE size(documents) >= $minimum
RETURN e.name AS name, documents ORDER BY name;

// name: memory_shared_mentions
// mode: read
// params: label, type
// The mentions of concepts by names that texts share.
MATCH (n)-[r]->(m:$($label)) WHERE r.type = $type AND r.shared
RETURN m.id AS concept, collect(n.id) AS texts;

// name: memory_mentioned
// mode: read
// params: keys, type
// The entities that the texts of these nodes mention.
MATCH (n:HopRankKnowledgeNode)-[r]->(m:HopRankKnowledgeNode) WHERE n.key IN $keys AND r.key IS NOT NULL AND r.type = $type
RETURN DISTINCT m.id AS entity;

// name: memory_texts_after
// mode: read
// params: label, type, known_at
// The nodes of the texts that were remembered after a time.
MATCH (n:$($label)) WHERE n.type = $type AND n.created_at > $known_at
RETURN n.id AS id;

// name: memory_mentioning
// mode: read
// params: graph, keys, type, moment, as_of, known_at
// The nodes of the texts that mention each of these entities.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
UNWIND $keys AS key
MATCH (n:HopRankKnowledgeNode {key: key})<-[r]-(m:HopRankKnowledgeNode)
WHERE r.key IS NOT NULL AND r.type = $type AND <joined(n, r, m, settled, $as_of, $known_at)>
RETURN n.id AS entity, collect(m.id) AS memories;

// name: memory_texts
// mode: read
// params: corpus, ids, generation
// Texts by the ids of their documents: their metadata, and the offsets and texts of their chunks in order.
<still_visible($corpus, $generation)>
MATCH (d:HopRankDocument) WHERE d.id IN $ids AND <visible(d, $generation)>
MATCH (c:HopRankChunk {corpus: $corpus, document: d.key}) WHERE <visible(c, $generation)>
WITH d, c ORDER BY c.ordinal
RETURN d {.*, centroid: null} AS document, collect([c.start, c.end, c.text]) AS chunks;

// name: memory_texts_holding
// mode: read
// params: label, words, generation
// The documents with a chunk that holds one of some words, given in small letters, as a word or within one, or in another form.
MATCH (c:$($label)) WHERE <visible(c, $generation)> AND any(word IN $words WHERE toLower(c.text) CONTAINS word OR toLower(c.folded) CONTAINS word)
RETURN DISTINCT c.document AS document;

// name: memory_stated
// mode: read
// params: keys, type, types
// The entities of some types that the texts of these nodes mention by themselves: how often they are mentioned, the texts that do,
// and the evidence of each fact of them that is believed.
MATCH (t:HopRankKnowledgeNode)-[r]->(e:HopRankKnowledgeNode) WHERE t.key IN $keys AND r.type = $type AND r.shared IS NULL AND e.type IN $types
WITH DISTINCT e
RETURN e.id AS entity, e.mention_count AS mentions,
       COLLECT { MATCH (e)<-[r]-(t) WHERE r.type = $type RETURN t.id } AS texts,
       COLLECT { MATCH (e)-[f]-() WHERE f.key IS NOT NULL AND f.type <> $type AND f.expired_at IS NULL RETURN coalesce(f.evidence, []) } AS evidence;

// name: memory_facts_read
// mode: read
// params: keys, type, origin
// The believed facts of an origin of the entities that the texts of these nodes mention.
MATCH (t:HopRankKnowledgeNode)-[r]->(:HopRankKnowledgeNode)-[f]-(:HopRankKnowledgeNode)
WHERE t.key IN $keys AND r.key IS NOT NULL AND r.type = $type AND f.key IS NOT NULL AND f.origin = $origin AND f.expired_at IS NULL
WITH DISTINCT f
RETURN properties(f) AS stored, startNode(f).id AS source, endNode(f).id AS target;

// name: memory_texts_of
// mode: read
// params: keys, type
// The nodes of the texts that mention these entities, at any time.
MATCH (n:HopRankKnowledgeNode)<-[r]-(m:HopRankKnowledgeNode) WHERE n.key IN $keys AND r.key IS NOT NULL AND r.type = $type
RETURN DISTINCT m.id AS id;

// name: memory_mentioned_at
// mode: read
// params: graph, keys, type, moment, as_of, known_at
// The entities that the texts of these nodes mention, those that most of them mention first.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
MATCH (n:HopRankKnowledgeNode)-[r]->(m:HopRankKnowledgeNode)
WHERE n.key IN $keys AND r.key IS NOT NULL AND r.type = $type AND <joined(n, r, m, settled, $as_of, $known_at)>
RETURN m.id AS entity, count(*) AS texts ORDER BY texts DESC, entity;
