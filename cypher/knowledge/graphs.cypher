// name: constrain_graph_id
// mode: schema
// A knowledge graph has a unique, immutable internal id.
CREATE CONSTRAINT hoprank_graph_id IF NOT EXISTS FOR (n:HopRankKnowledgeGraph) REQUIRE n.id IS UNIQUE;

// name: constrain_graph_name
// mode: schema
// Names of knowledge graphs are unique.
CREATE CONSTRAINT hoprank_graph_name IF NOT EXISTS FOR (n:HopRankKnowledgeGraph) REQUIRE n.name IS UNIQUE;

// name: constrain_knowledge_node_key
// mode: schema
// A node has a unique key, the hash of its graph and id: ids may be too long for an index.
CREATE CONSTRAINT hoprank_knowledge_node_key IF NOT EXISTS FOR (n:HopRankKnowledgeNode) REQUIRE n.key IS UNIQUE;

// name: index_knowledge_node_type
// mode: schema
// Find nodes by type within a graph.
CREATE INDEX hoprank_knowledge_node_type IF NOT EXISTS FOR (n:HopRankKnowledgeNode) ON (n.graph, n.type);

// name: create_edge_index
// mode: schema
// names: edge_index, edge_type
// Find the edges of one relationship type by key, or those of one graph by the beginning of their keys.
CREATE INDEX <edge_index> IF NOT EXISTS FOR ()-[r:<edge_type>]-() ON (r.key);

// name: create_graph_vector_index
// mode: schema
// params: dimension
// names: graph_vectors
// The vector index of the nodes of all graphs with embeddings of one length; it filters by graph. It isn't quantised, so scores are
// exact.
CYPHER 25
CREATE VECTOR INDEX <graph_vectors> IF NOT EXISTS FOR (n:<graph_vectors>) ON n.embedding WITH [n.graph]
OPTIONS {indexConfig: {`vector.dimensions`: $dimension, `vector.similarity_function`: 'cosine', `vector.quantization.enabled`: false}};

// name: graphs
// mode: read
// Every published knowledge graph with its number of nodes, by name.
MATCH (g:HopRankKnowledgeGraph) WHERE g.name IS NOT NULL
RETURN properties(g) AS graph, COUNT { MATCH (n:$('HopRankGraph_' + g.id)) } AS nodes ORDER BY g.name;

// name: graphs_named
// mode: read
// params: graph_names
// The knowledge graphs of these names that exist.
MATCH (g:HopRankKnowledgeGraph) WHERE g.name IN $graph_names RETURN properties(g) AS graph;

// name: create_graph
// mode: write
// params: id, name, now, schema_version, kind
// Create a knowledge graph of the domain $kind (null: of none), or return the existing graph of that name.
MERGE (g:HopRankKnowledgeGraph {name: $name})
ON CREATE SET g.id = $id, g.created_at = $now, g.version = 0, g.schema_version = $schema_version, g.kind = $kind
RETURN properties(g) AS graph;

// name: create_unpublished_graph
// mode: write
// params: id, name, now, schema_version, writer
// Create an unpublished knowledge graph, which the writer loads; readers see it once it is published under $name.
CREATE (g:HopRankKnowledgeGraph {id: $id, awaited_name: $name, created_at: $now, version: 0, schema_version: $schema_version,
                          writer: $writer})
RETURN properties(g) AS graph;

// name: claim_graph
// mode: write
// params: graph, label, kind
// Let a graph that no domain made, and that holds nothing, be of the domain $kind; return its properties.
MATCH (g:HopRankKnowledgeGraph {id: $graph})
SET g.lock = true
REMOVE g.lock
SET g.kind = CASE WHEN EXISTS { (:$($label)) } THEN g.kind ELSE coalesce(g.kind, $kind) END
RETURN properties(g) AS graph;

// name: publish_graph
// mode: write
// params: graph, name
// Give a graph its name, and the domain of the graph that had it; unpublish the graph that had the name, which the caller then deletes, and return its id.
MATCH (g:HopRankKnowledgeGraph {id: $graph})
OPTIONAL MATCH (old:HopRankKnowledgeGraph {name: $name}) WHERE old.id <> $graph
CALL (old) {
  WITH old WHERE old IS NOT NULL
  SET old.awaited_name = old.name
  REMOVE old.name
}
SET g.name = $name, g.kind = coalesce(old.kind, g.kind)
REMOVE g.awaited_name, g.writer
RETURN old.id AS replaced;

// name: unpublish_graph
// mode: write
// params: graph
// Remove a graph's name, so that readers don't find it while it is being deleted.
MATCH (g:HopRankKnowledgeGraph {id: $graph}) WHERE g.name IS NOT NULL
SET g.awaited_name = g.name
REMOVE g.name;

// name: abandoned_graphs
// mode: read
// params: name, before
// Unpublished graphs for a name that were created before a time: failed imports and interrupted deletions. With their writers.
MATCH (g:HopRankKnowledgeGraph {awaited_name: $name}) WHERE g.name IS NULL AND g.created_at < $before
RETURN g.id AS id, g.writer AS writer;

// name: touch_graph
// mode: write
// params: graph
// Count a change; the write locks the graph until the transaction ends. No row if the graph was dropped.
MATCH (g:HopRankKnowledgeGraph {id: $graph}) SET g.version = g.version + 1 RETURN properties(g) AS graph;

// name: lock_graph_types
// mode: write
// Lock the types of all graphs against others who bring one, until the transaction ends.
MERGE (catalog:HopRankCatalog {id: 'types'})
SET catalog.lock = true
REMOVE catalog.lock;

// name: add_graph_types
// mode: write
// params: graph, labels, edge_types
// Add labels and relationship types to those that a graph has.
MATCH (g:HopRankKnowledgeGraph {id: $graph})
SET g.node_labels = coalesce(g.node_labels, []) + [name IN $labels WHERE NOT name IN coalesce(g.node_labels, [])],
    g.edge_types = coalesce(g.edge_types, []) + [name IN $edge_types WHERE NOT name IN coalesce(g.edge_types, [])]
RETURN properties(g) AS graph;

// name: mark_temporal
// mode: write
// params: graph
// Note that something in a graph has an end, or begins later: from now on reads check the times of all.
MATCH (g:HopRankKnowledgeGraph {id: $graph}) SET g.temporal = true;

// name: set_graph_dimension
// mode: write
// params: graph, dimension
// Set the length of the graph's embeddings unless it is set already; return the length that holds.
MATCH (g:HopRankKnowledgeGraph {id: $graph}) SET g.dimension = coalesce(g.dimension, $dimension) RETURN g.dimension AS dimension;

// name: fill_texts
// mode: write
// params: graph, label, texts, copies, limit
// Bring up to $limit nodes of a graph into its full-text index, which those that are written from now on are in: of the pairs of
// properties in $copies the second becomes the first. Who else does so waits, until the index has what is filled in.
CYPHER 25
MATCH (g:HopRankKnowledgeGraph {id: $graph})
SET g.lock = true
REMOVE g.lock
WITH g
MATCH (n:$($label)) WHERE NOT $texts IN labels(n)
WITH n LIMIT $limit
SET n:$([$texts])
FOREACH (pair IN $copies | SET n[pair[1]] = n[pair[0]])
RETURN count(*) AS filled;

// name: set_filled
// mode: write
// params: graph
// Record that all nodes of a graph are in its full-text index.
MATCH (g:HopRankKnowledgeGraph {id: $graph}) SET g.filled = true;

// name: graph_state
// mode: read
// params: graph
// A graph's current properties.
<known_graph($graph)>
RETURN properties(g) AS graph;

// name: graph_size
// mode: read
// params: graph, label, moment, as_of, known_at
// A graph's numbers of visible nodes and edges.
<known_graph($graph)>
WITH <settled(g, $moment)> AS settled
RETURN COUNT { MATCH (n:$($label)) WHERE <current(n, settled, $as_of, $known_at)> } AS nodes,
       COUNT { MATCH (a:$($label))-[r]->(b) WHERE r.key IS NOT NULL AND <joined(a, r, b, settled, $as_of, $known_at)> } AS edges;

// name: delete_graph_edges
// mode: write
// params: label, limit
// Delete up to $limit edges of a graph; return their number.
MATCH (n:$($label))-[r]->()
WITH r LIMIT $limit
DELETE r
RETURN count(*) AS deleted;

// name: delete_graph_part
// mode: write
// params: label, limit
// Delete up to $limit nodes of a graph with their relationships; return their number.
MATCH (n:$($label))
WITH n LIMIT $limit
DETACH DELETE n
RETURN count(*) AS deleted;

// name: delete_graph
// mode: write
// params: graph
// Delete the graph's own node, after its contents.
MATCH (g:HopRankKnowledgeGraph {id: $graph}) DELETE g;
