// The counts behind a corpus's decisions on names, in shards.

// name: stored_counts
// mode: read
// params: corpus, kind, shards, generation
// The visible shards of counts of one kind.
MATCH (t:HopRankTally {corpus: $corpus, kind: $kind})
WHERE t.shard IN $shards AND <visible(t, $generation)>
RETURN t.shard AS shard, t.counts AS counts;

// name: stage_counts
// mode: write
// params: corpus, writer, kind, rows, generation, until
// Write shards of counts of one kind, and retire those that they replace: the visible generation is their last.
<leased($corpus, $writer)>
UNWIND $rows AS row
MERGE (t:HopRankTally {id: row.id})
SET t += row.properties
WITH row
MATCH (old:HopRankTally {corpus: $corpus, kind: $kind, shard: row.shard}) WHERE <visible(old, $generation)>
SET old.until = $until;
