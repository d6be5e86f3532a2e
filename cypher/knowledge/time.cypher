// Visibility in time. valid_at and invalid_at bound when a node or edge holds in the world, created_at and expired_at when the
// graph knows it. Times are texts in ISO 8601, as UTC, which sort as times do.

// fragment: current(item, settled, as_of, known_at)
// The node or edge holds at a time of the world, as known at another. If settled is true, every one does.
<settled> OR (coalesce(<item>.valid_at, '') <= <as_of> AND <as_of> < coalesce(<item>.invalid_at, '~')
  AND coalesce(<item>.created_at, '') <= <known_at> AND <known_at> < coalesce(<item>.expired_at, '~'))

// fragment: joined(one, edge, other, settled, as_of, known_at)
// The edge and both of its endpoints hold at a time of the world, as known at another. If settled is true, every edge does.
<settled> OR (coalesce(<edge>.valid_at, '') <= <as_of> AND <as_of> < coalesce(<edge>.invalid_at, '~')
  AND coalesce(<edge>.created_at, '') <= <known_at> AND <known_at> < coalesce(<edge>.expired_at, '~')
  AND coalesce(<one>.valid_at, '') <= <as_of> AND <as_of> < coalesce(<one>.invalid_at, '~')
  AND coalesce(<one>.created_at, '') <= <known_at> AND <known_at> < coalesce(<one>.expired_at, '~')
  AND coalesce(<other>.valid_at, '') <= <as_of> AND <as_of> < coalesce(<other>.invalid_at, '~')
  AND coalesce(<other>.created_at, '') <= <known_at> AND <known_at> < coalesce(<other>.expired_at, '~'))

// fragment: settled(graph, moment)
// Every node and edge of the graph is visible at that moment: "any", or "now" in a graph where nothing has an end or begins later.
<moment> = 'any' OR (<moment> = 'now' AND <graph>.temporal IS NULL)

// fragment: known_graph(id)
// The graph, as `g`; one that was dropped or replaced ends the query by a division by zero, which the client takes for Superseded: to a
// caller no row would mean a graph without nodes. A graph that is being loaded has a writer.
OPTIONAL MATCH (g:HopRankKnowledgeGraph {id: <id>}) WHERE g.name IS NOT NULL OR g.writer IS NOT NULL
WITH g WHERE 1 / CASE WHEN g IS NULL THEN 0 ELSE 1 END = 1
