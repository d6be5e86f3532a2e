// Jobs of the service: each a node (:HopRankServiceJob), whose `request` and `result` are JSON. `owner` is the writer's id of the
// process that runs it (pipeline.db.writers), `seen` the server's time of its last sign of life, in milliseconds. While another
// process writes its corpus a job is queued: it isn't claimed until `not_before`, and `tried_since` is when it was tried first.

// name: create_job
// mode: write
// params: id, properties
// Add a job, unless it is there.
MERGE (j:HopRankServiceJob {id: $id})
ON CREATE SET j += $properties;

// name: jobs
// mode: read
// params: corpora, before, after, limit
// The jobs of these corpora, or of all if null, that were created before a time, or then with an id after another, the latest first;
// without their requests.
MATCH (j:HopRankServiceJob)
WHERE ($corpora IS NULL OR j.corpus IN $corpora) AND (j.created_at < $before OR j.created_at = $before AND j.id > $after)
WITH j ORDER BY j.created_at DESC, j.id LIMIT $limit
RETURN j {.*, request: null} AS job, elementId(j) AS element, j.created_at AS created_at, j.id AS id;

// name: job_counts
// mode: read
// How many jobs of each corpus are in each state.
MATCH (j:HopRankServiceJob)
WHERE j.corpus IS :: STRING NOT NULL AND j.state IN ['queued', 'running', 'succeeded', 'failed', 'cancelled']
RETURN j.corpus AS corpus, j.state AS state, count(*) AS jobs
ORDER BY corpus, state;

// name: job
// mode: read
// params: id
// A job, without its request.
MATCH (j:HopRankServiceJob {id: $id})
RETURN j {.*, request: null} AS job, elementId(j) AS element;

// name: next_job
// mode: read
// params: host, ignored
// The oldest queued job whose corpus has no running one, and no older one that waits for another writer; one with paths only on its
// host. Its request comes with it. Nodes whose element ids are ignored are no jobs.
MATCH (j:HopRankServiceJob {state: 'queued'})
WHERE (j.host IS NULL OR j.host = $host) AND coalesce(j.not_before, 0) <= timestamp() AND NOT elementId(j) IN $ignored
  AND NOT EXISTS {
    MATCH (running:HopRankServiceJob {state: 'running', corpus: j.corpus}) WHERE NOT elementId(running) IN $ignored
  }
  AND NOT EXISTS {
    MATCH (older:HopRankServiceJob {state: 'queued', corpus: j.corpus})
    WHERE older.not_before > timestamp() AND NOT elementId(older) IN $ignored
      AND (older.created_at < j.created_at OR older.created_at = j.created_at AND older.id < j.id)
  }
RETURN j {.*} AS job, elementId(j) AS element
ORDER BY j.created_at, j.id LIMIT 1;

// name: claim_job
// mode: write
// params: id, owner, started_at, ignored
// Take a queued job, if its corpus still has no running one. No row: another service was first.
MATCH (catalog:HopRankCatalog {id: 'jobs'})
SET catalog.lock = true
REMOVE catalog.lock
WITH catalog
MATCH (j:HopRankServiceJob {id: $id, state: 'queued'})
WHERE NOT EXISTS {
  MATCH (running:HopRankServiceJob {state: 'running', corpus: j.corpus}) WHERE NOT elementId(running) IN $ignored
}
SET j.state = 'running', j.owner = $owner, j.seen = timestamp(), j.attempt = j.attempt + 1, j.started_at = $started_at,
    j.tried_since = coalesce(j.tried_since, timestamp())
REMOVE j.finished_at, j.progress, j.problem, j.result, j.not_before
RETURN j {.*, request: null} AS job;

// name: prepare_jobs
// mode: write
// Make the node whose lock separates those who claim jobs.
MERGE (:HopRankCatalog {id: 'jobs'});

// name: beat_job
// mode: write
// params: id, owner, progress
// Record that the owner is alive, and how far it is; return whether the job is to be cancelled. No row: it isn't the owner's.
MATCH (j:HopRankServiceJob {id: $id, owner: $owner, state: 'running'})
SET j.seen = timestamp(), j.progress = $progress
RETURN coalesce(j.cancelling, false) AS cancelling;

// name: finish_job
// mode: write
// params: id, owner, state, finished_at, result, problem, keep_request
// End a job of the owner. Without $keep_request its documents are forgotten.
MATCH (j:HopRankServiceJob {id: $id, owner: $owner, state: 'running'})
SET j.state = $state, j.finished_at = $finished_at, j.result = $result, j.problem = $problem,
    j.request = CASE WHEN $keep_request THEN j.request END
REMOVE j.owner, j.seen, j.cancelling, j.deaths, j.tried_since, j.not_before;

// name: defer_job
// mode: write
// params: id, owner, problem, seconds, limit, finished_at
// Put a job of the owner back into the queue for some seconds, if it was tried first within the limit, in seconds: another process writes
// its corpus. That is no attempt of its own. One that was to be cancelled is cancelled. No row: it waited too long, or isn't the owner's.
MATCH (j:HopRankServiceJob {id: $id, owner: $owner, state: 'running'})
WITH j, coalesce(j.cancelling, false) AS cancelled
WHERE cancelled OR timestamp() - j.tried_since <= 1000 * $limit
SET j.state = CASE WHEN cancelled THEN 'cancelled' ELSE 'queued' END,
    j.finished_at = CASE WHEN cancelled THEN $finished_at END,
    j.problem = CASE WHEN NOT cancelled THEN $problem END,
    j.not_before = CASE WHEN NOT cancelled THEN timestamp() + toInteger(1000 * $seconds) END,
    j.attempt = j.attempt - 1
REMOVE j.owner, j.seen, j.cancelling, j.started_at
RETURN j.state AS state;

// name: running_jobs
// mode: read
// The owners of the running jobs, the last sign of life of each, and for how many seconds it was silent.
MATCH (j:HopRankServiceJob {state: 'running'})
RETURN j {.*, request: null} AS job, elementId(j) AS element,
       CASE WHEN j.seen IS :: INTEGER NOT NULL THEN (timestamp() - j.seen) / 1000.0 END AS silent;

// name: requeue_job
// mode: write
// params: id, owner, died, finished_at
// Put a job of an owner that stopped or died back into the queue; one that was to be cancelled is cancelled.
MATCH (j:HopRankServiceJob {id: $id, owner: $owner, state: 'running'})
SET j.state = CASE WHEN coalesce(j.cancelling, false) THEN 'cancelled' ELSE 'queued' END,
    j.finished_at = CASE WHEN coalesce(j.cancelling, false) THEN $finished_at END,
    j.deaths = coalesce(j.deaths, 0) + CASE WHEN $died THEN 1 ELSE 0 END
REMOVE j.owner, j.seen, j.cancelling, j.tried_since, j.not_before;

// name: cancel_job
// mode: write
// params: id, finished_at
// Cancel a queued job, and tell the owner of a running one to stop; return the state before.
MATCH (j:HopRankServiceJob {id: $id})
SET j.lock = true
REMOVE j.lock
WITH j, j.state AS state
FOREACH (_ IN CASE state WHEN 'queued' THEN [1] ELSE [] END |
  SET j.state = 'cancelled', j.finished_at = $finished_at REMOVE j.problem, j.tried_since, j.not_before)
FOREACH (_ IN CASE state WHEN 'running' THEN [1] ELSE [] END | SET j.cancelling = true)
RETURN state;

// name: retry_job
// mode: write
// params: id, states
// Queue a job again that is in one of these states and still has its request; return whether it was.
MATCH (j:HopRankServiceJob {id: $id})
SET j.lock = true
REMOVE j.lock
WITH j, j.state IN $states AND j.request IS NOT NULL AS possible
FOREACH (_ IN CASE WHEN possible THEN [1] ELSE [] END | SET j.state = 'queued' REMOVE j.finished_at, j.deaths, j.tried_since)
RETURN possible, j.state AS state;

// name: delete_old_jobs
// mode: write
// params: before
// Delete the jobs that finished before a time.
MATCH (j:HopRankServiceJob) WHERE j.finished_at < $before
DELETE j;
