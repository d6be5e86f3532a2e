// A first look at several corpora, to choose those that are worth a search.

// name: look
// mode: read
// params: corpora, vector, limit, names
// names: vector_index
// Of the corpora of a model, by id: the scores, (1 + cosine) / 2, of the chunks nearest to the question's vector, best first. Of the
// entities that the names of the question would be in these corpora, by id, those that there are, each with the number of chunks
// that mention it. A vector search can't be given a list of corpora, so each is searched by itself, in the same round trip.
CYPHER 25
CALL () {
  UNWIND $corpora AS id
  MATCH (corpus:HopRankCorpus {id: id})
  CALL (corpus) {
    MATCH (c:<vector_index>)
    SEARCH c IN (VECTOR INDEX <vector_index> FOR $vector WHERE c.corpus = corpus.id LIMIT $limit) SCORE AS score
    WITH c, score
    WHERE corpus.staging IS NULL OR <visible(c, corpus.generation)>
    RETURN collect(score) AS scores
  }
  RETURN collect({corpus: corpus.id, scores: scores}) AS near
}
CALL () {
  UNWIND $names AS id
  MATCH (e:HopRankEntity {id: id})
  WITH e, COUNT { (e)<-[:MENTIONS]-() } AS mentions
  RETURN collect({name: e.key, corpus: e.corpus, mentions: mentions}) AS named
}
RETURN near, named;
