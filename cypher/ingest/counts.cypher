// The counts behind a corpus's decisions on names, in shards.

// name: stored_counts
// mode: read
// params: corpus, kind, shards, generation
// The visible shards of counts of one kind.
MATCH (t:Tally {corpus: $corpus, kind: $kind})
WHERE t.shard IN $shards AND <visible(t, $generation)>
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
// Retire replaced shards: the visible generation is their last.
MATCH (t:Tally {corpus: $corpus, kind: $kind})
WHERE t.shard IN $shards AND <visible(t, $generation)>
SET t.until = $until;
