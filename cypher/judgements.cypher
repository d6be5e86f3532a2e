// What people say of hits: whether a document answers a question. (:HopRankJudgement {corpus, question, document, relevance}), whose
// `document` is a key; they go with their corpus, and follow it when it is rebuilt (switch_corpus).

// name: judge
// mode: write
// params: corpus, generation, document, key, question, relevance
// Record a judgement on a visible document, in place of the one before; no row if there is no such document.
// The lock keeps two who judge the same at once from making two.
MATCH (corpus:HopRankCorpus {id: $corpus})
SET corpus.lock = true
REMOVE corpus.lock
WITH corpus
MATCH (d:HopRankDocument {id: $document})
WHERE <visible(d, $generation)>
MERGE (j:HopRankJudgement {corpus: corpus.id, question: $question, document: $key})
SET j.relevance = $relevance
RETURN j.relevance AS relevance;

// name: withdraw_judgement
// mode: write
// params: corpus, key, question
// Forget a judgement.
MATCH (j:HopRankJudgement {corpus: $corpus, question: $question, document: $key})
DELETE j;

// name: judgements
// mode: read
// params: corpus, question
// The judgements of a corpus, or with $question those on its answers, by question and document.
MATCH (j:HopRankJudgement {corpus: $corpus})
WHERE $question IS NULL OR j.question = $question
RETURN j.question AS question, j.document AS document, j.relevance AS relevance
ORDER BY question, document;
