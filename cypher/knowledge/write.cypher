// name: existing_nodes
// mode: read
// params: keys
// The nodes with these keys that exist, their types and creation times.
UNWIND $keys AS key
MATCH (n:HopRankKnowledgeNode {key: key})
RETURN n.key AS key, n.id AS id, n.type AS type, n.created_at AS created_at;

// name: existing_edges
// mode: read
// params: keys
// names: edge_types
// The edges with these keys that exist.
UNWIND $keys AS key
MATCH ()-[r:<edge_types> {key: key}]->()
RETURN r.key AS key, r.id AS id;

// name: put_nodes
// mode: write
// params: rows, labels, copies
// Create or overwrite nodes: rows of {key, properties, vector, labels, former}, where former are labels that the node loses.
// An overwritten node keeps its edges, and labels that others gave it, and nothing else. Of the pairs of properties in $copies the
// second becomes the first.
CYPHER 25
UNWIND $rows AS row
MERGE (n:HopRankKnowledgeNode {key: row.key})
REMOVE n:$(row.former)
SET n = row.properties, n:$($labels + row.labels)
FOREACH (pair IN $copies | SET n[pair[1]] = n[pair[0]])
WITH n, row WHERE row.vector IS NOT NULL
CALL db.create.setNodeVectorProperty(n, 'embedding', toFloatList(row.vector));

// name: put_edges
// mode: write
// params: rows
// Create edges: rows of {source, target, type, properties}, with endpoints by key; return how many endpoint pairs exist.
CYPHER 25
UNWIND $rows AS row
MATCH (a:HopRankKnowledgeNode {key: row.source})
MATCH (b:HopRankKnowledgeNode {key: row.target})
CREATE (a)-[r:$(row.type)]->(b)
SET r = row.properties
RETURN count(*) AS written;

// name: replace_edges
// mode: write
// params: rows
// names: edge_types
// Create edges as put_edges does, in place of those with their keys.
CYPHER 25
UNWIND $rows AS row
CALL (row) {
  MATCH ()-[old:<edge_types> {key: row.properties.key}]->()
  DELETE old
}
MATCH (a:HopRankKnowledgeNode {key: row.source})
MATCH (b:HopRankKnowledgeNode {key: row.target})
CREATE (a)-[r:$(row.type)]->(b)
SET r = row.properties
RETURN count(*) AS written;

// name: delete_nodes
// mode: write
// params: keys
// Delete nodes with their edges; return their number.
UNWIND $keys AS key
MATCH (n:HopRankKnowledgeNode {key: key})
DETACH DELETE n
RETURN count(*) AS deleted;

// name: delete_edges
// mode: write
// params: keys
// names: edge_types
// Delete edges; return their number.
UNWIND $keys AS key
MATCH ()-[r:<edge_types> {key: key}]->()
DELETE r
RETURN count(*) AS deleted;

// name: parents
// mode: read
// params: keys
// The parents of these nodes; no row for a node without a parent.
UNWIND $keys AS key
MATCH (n:HopRankKnowledgeNode {key: key})-[:CHILD_OF]->(p)
RETURN n.key AS key, n.id AS id, p.id AS parent;

// name: set_parents
// mode: write
// params: rows
// Set nodes' parents, replacing any old ones: rows of {child, parent}, by key; return how many pairs exist.
UNWIND $rows AS row
MATCH (c:HopRankKnowledgeNode {key: row.child})
MATCH (p:HopRankKnowledgeNode {key: row.parent})
CALL (c) {
  MATCH (c)-[r:CHILD_OF]->()
  DELETE r
}
CREATE (c)-[:CHILD_OF]->(p)
RETURN count(*) AS written;

// name: clear_parents
// mode: write
// params: keys
// Remove the links of these nodes to their parents.
UNWIND $keys AS key
MATCH (:HopRankKnowledgeNode {key: key})-[r:CHILD_OF]->()
DELETE r;

// name: own_ancestors
// mode: read
// params: keys
// Up to five of these nodes that are their own ancestors, ordered by id.
UNWIND $keys AS key
MATCH (n:HopRankKnowledgeNode {key: key})
WHERE EXISTS { (n)-[:CHILD_OF]->+(n) }
RETURN n.id AS id ORDER BY id LIMIT 5;

// name: load_nodes
// mode: write
// params: rows, label
// Create nodes: rows of {key, properties, vector, labels}; return each node's element id, for load_edges.
CYPHER 25
UNWIND $rows AS row
CREATE (n:HopRankKnowledgeNode:$($label):$(row.labels))
SET n = row.properties
CALL (n, row) {
  WITH n, row WHERE row.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(n, 'embedding', toFloatList(row.vector))
}
RETURN n.id AS id, elementId(n) AS element_id;

// name: load_edges
// mode: write
// params: rows
// Create edges: rows of [source's element id, target's element id, relationship type, key, id, type, weight, directed, supported
// type, created_at, other properties].
// Rows are lists and endpoints are matched by element id: unlike put_edges, this needs no mappings and no two index lookups an edge.
CYPHER 25
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row[0]
MATCH (b) WHERE elementId(b) = row[1]
CREATE (a)-[r:$(row[2]) {
  key: row[3], id: row[4], type: row[5], weight: row[6], directed: row[7], supported: row[8], created_at: row[9]
}]->(b)
SET r += row[10];
