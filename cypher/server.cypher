// name: server_version
// mode: read
// The server's version, as "2026.02.3".
CALL dbms.components() YIELD name, versions
RETURN versions[0] AS version ORDER BY name = 'Neo4j Kernel' DESC LIMIT 1;

// name: gds_procedures
// mode: read
// A row if Graph Data Science is installed and this user may call it; else none.
SHOW PROCEDURES EXECUTABLE YIELD name WHERE name = 'gds.graph.list' RETURN name;

// name: readers
// mode: read
// params: database
// How many servers answer reads of a database: more than one in a cluster.
CALL dbms.routing.getRoutingTable({}, $database) YIELD servers
UNWIND servers AS server
WITH server WHERE server.role = 'READ'
RETURN size(server.addresses) AS readers;
