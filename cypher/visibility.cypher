// Visibility: which nodes and relationships a generation of a corpus sees. Readers see one generation, the corpus's property
// `generation`, while a writer prepares the next.
// Documents, chunks, counts and their relationships carry `since` and `until`. A writer makes new ones with `since` = generation + 1
// and retires old ones with `until` = generation + 1; then it moves the corpus to generation + 1.
// Every condition on `since` and `until` is one of these fragments.

// fragment: visible(item, generation)
// The generation sees the node or relationship.
<item>.since <= <generation> AND <item>.until > <generation>

// fragment: staged(item, generation)
// A later generation will see it, or would have: it is being written, or was left by a crashed run.
<item>.since > <generation>

// fragment: retired(item, generation)
// An earlier generation was the last to see it.
<item>.until <= <generation>

// fragment: retiring(item, generation)
// The generation is the last to see it: it was retired by the write in progress, or by a crashed run.
<item>.until = <generation> + 1

// fragment: known_corpus(id)
// The corpus, as `corpus`; one that was dropped ends the query by a division by zero, which the client takes for Superseded: to a
// caller no row would mean a corpus without texts.
OPTIONAL MATCH (corpus:HopRankCorpus {id: <id>})
WITH corpus WHERE 1 / CASE WHEN corpus IS NULL THEN 0 ELSE 1 END = 1

// fragment: still_visible(id, generation)
// As known_corpus, of a corpus whose visible generation is still this one: the texts of others may be collected already.
OPTIONAL MATCH (corpus:HopRankCorpus {id: <id>})
WITH corpus WHERE 1 / CASE WHEN corpus.generation = <generation> THEN 1 ELSE 0 END = 1
