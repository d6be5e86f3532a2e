// Slots in full-text indexes; see pipeline/db/slots.py.

// fragment: text_index(texts)
// The name of the full-text index over the nodes with a label; null if there is none.
head(COLLECT { MATCH (pool:HopRankTexts {label: <texts>}) RETURN pool.index })

// name: take_slot
// mode: write
// params: owner, analyzer
// Give a corpus or graph that has no slot the first free one of an analyser, if there is any. The number of free ones is the
// analyser's; of the indexes that have some, the one with fewest comes first.
MERGE (catalog:HopRankCatalog {id: 'texts'})
SET catalog.lock = true
REMOVE catalog.lock
WITH catalog
MATCH (owner:HopRankCorpus|HopRankKnowledgeGraph {id: $owner})
CALL (owner) {
  MATCH (pool:HopRankTexts {analyzer: $analyzer})
  WHERE size(pool.free) > 0 AND owner.slot IS NULL
  WITH owner, pool ORDER BY size(pool.free), pool.label LIMIT 1
  SET owner.texts = pool.label, owner.slot = pool.free[0], pool.free = pool.free[1..]
}
RETURN owner.texts AS texts, owner.slot AS slot,
       reduce(sum = 0, free IN COLLECT { MATCH (pool:HopRankTexts {analyzer: $analyzer}) RETURN size(pool.free) } | sum + free) AS free;

// name: retire_slot
// mode: write
// params: owner
// Retire the slot of what is being deleted; the number of those of its index that are retired.
MERGE (catalog:HopRankCatalog {id: 'texts'})
SET catalog.lock = true
REMOVE catalog.lock
WITH catalog
MATCH (owner:HopRankDroppedCorpus|HopRankKnowledgeGraph {id: $owner})
MATCH (pool:HopRankTexts {label: owner.texts})
SET pool.retired = pool.retired + owner.slot
REMOVE owner.texts, owner.slot
RETURN pool.label AS texts, size(pool.retired) AS retired;

// name: lock_texts
// mode: write
// Keep others from making or rebuilding a full-text index until the transaction ends.
MERGE (catalog:HopRankCatalog {id: 'indexes'})
SET catalog.lock = true
REMOVE catalog.lock;

// name: texts
// mode: read
// The full-text indexes of slots.
MATCH (pool:HopRankTexts)
RETURN pool.label AS texts, pool.index AS index, pool.analyzer AS analyzer, pool.free AS free, pool.retired AS retired;

// name: add_texts
// mode: write
// params: texts, index, analyzer, slots
// Record a full-text index, all of whose slots are free.
MERGE (pool:HopRankTexts {label: $texts})
ON CREATE SET pool.index = $index, pool.analyzer = $analyzer, pool.free = $slots, pool.retired = [];

// name: replace_texts_index
// mode: write
// params: texts, index, retired
// Let searches use an index that was built after these slots were retired, and give the slots again.
MERGE (catalog:HopRankCatalog {id: 'texts'})
SET catalog.lock = true
REMOVE catalog.lock
WITH catalog
MATCH (pool:HopRankTexts {label: $texts})
SET pool.index = $index, pool.free = pool.free + $retired, pool.retired = [slot IN pool.retired WHERE NOT slot IN $retired];
