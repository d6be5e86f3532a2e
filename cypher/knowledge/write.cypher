// name: known_nodes
// mode: read
// params: keys
// Which of the nodes with these keys there are, and when they were made.
UNWIND $keys AS key
MATCH (n:KnowledgeNode {key: key})
RETURN n.key AS key, n.id AS id, n.created_at AS created_at;

// name: known_edges
// mode: read
// params: keys
// Which of the edges with these keys there are.
UNWIND $keys AS key
MATCH ()-[r:KNOWLEDGE_EDGE {key: key}]->()
RETURN r.key AS key, r.id AS id;

// name: put_nodes
// mode: write
// params: rows, label
// Write nodes: rows of {key, properties, vector}. One that is there loses what it had, but not its edges.
CYPHER 25
UNWIND $rows AS row
MERGE (n:KnowledgeNode {key: row.key})
SET n = row.properties, n:$($label)
WITH n, row WHERE row.vector IS NOT NULL
CALL db.create.setNodeVectorProperty(n, 'embedding', toFloatList(row.vector));

// name: put_edges
// mode: write
// params: rows
// Write edges that are not there yet: rows of {source, target, properties}; return how many had both their ends.
UNWIND $rows AS row
MATCH (a:KnowledgeNode {key: row.source})
MATCH (b:KnowledgeNode {key: row.target})
CREATE (a)-[r:KNOWLEDGE_EDGE]->(b)
SET r = row.properties
RETURN count(*) AS written;

// name: delete_nodes
// mode: write
// params: keys
// Delete nodes with their edges; return how many there were.
UNWIND $keys AS key
MATCH (n:KnowledgeNode {key: key})
DETACH DELETE n
RETURN count(*) AS deleted;

// name: delete_edges
// mode: write
// params: keys
// Delete edges; return how many there were.
UNWIND $keys AS key
MATCH ()-[r:KNOWLEDGE_EDGE {key: key}]->()
DELETE r
RETURN count(*) AS deleted;

// name: parents
// mode: read
// params: keys
// The parent of each of these nodes that has one.
UNWIND $keys AS key
MATCH (n:KnowledgeNode {key: key})-[:CHILD_OF]->(p)
RETURN n.key AS key, n.id AS id, p.id AS parent;

// name: set_parents
// mode: write
// params: rows
// Give nodes their parent instead of the one they had: rows of {child, parent}; return how many had both.
UNWIND $rows AS row
MATCH (c:KnowledgeNode {key: row.child})
MATCH (p:KnowledgeNode {key: row.parent})
CALL (c) {
  MATCH (c)-[r:CHILD_OF]->()
  DELETE r
}
CREATE (c)-[:CHILD_OF]->(p)
RETURN count(*) AS written;

// name: clear_parents
// mode: write
// params: keys
// Take these nodes' parents from them.
UNWIND $keys AS key
MATCH (:KnowledgeNode {key: key})-[r:CHILD_OF]->()
DELETE r;

// name: own_ancestors
// mode: read
// params: keys
// Which of these nodes would be their own ancestors.
UNWIND $keys AS key
MATCH (n:KnowledgeNode {key: key})
WHERE EXISTS { (n)-[:CHILD_OF]->+(n) }
RETURN n.id AS id ORDER BY id LIMIT 5;

// name: load_nodes
// mode: write
// params: rows, label
// Write nodes that are new: rows of {key, properties, vector}; return where each is, for load_edges.
CYPHER 25
UNWIND $rows AS row
CREATE (n:KnowledgeNode:$($label))
SET n = row.properties
CALL (n, row) {
  WITH n, row WHERE row.vector IS NOT NULL
  CALL db.create.setNodeVectorProperty(n, 'embedding', toFloatList(row.vector))
}
RETURN n.id AS id, elementId(n) AS place;

// name: load_edges
// mode: write
// params: rows, graph
// Write edges that are new: rows of [source's place, target's place, key, id, type, weight, directed, supported type, properties].
// Rows are lists, and ends are found by place, which spares the server the mappings and two looks into an index that put_edges has.
UNWIND $rows AS row
MATCH (a) WHERE elementId(a) = row[0]
MATCH (b) WHERE elementId(b) = row[1]
CREATE (a)-[r:KNOWLEDGE_EDGE {
  key: row[2], graph: $graph, id: row[3], type: row[4], weight: row[5], directed: row[6], supported: row[7]
}]->(b)
SET r += row[8];
