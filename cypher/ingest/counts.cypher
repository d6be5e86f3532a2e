// The counts behind a corpus's decisions, in shards.

// name: stored_counts
// mode: read
// params: corpus, kind, shards, generation
// The shards of counts of one kind that are visible.
MATCH (t:Tally {corpus: $corpus, kind: $kind})
WHERE t.shard IN $shards AND t.since <= $generation AND t.until > $generation
RETURN t.shard AS shard, t.counts AS counts;

// name: stage_counts
// mode: write
// params: rows
// Write shards of counts.
UNWIND $rows AS row
MERGE (t:Tally {id: row.id})
SET t += row.properties;

// name: retire_counts
// mode: write
// params: corpus, kind, shards, generation, until
// Let the visible shards that are replaced end with the present generation.
MATCH (t:Tally {corpus: $corpus, kind: $kind})
WHERE t.shard IN $shards AND t.since <= $generation AND t.until > $generation
SET t.until = $until;
