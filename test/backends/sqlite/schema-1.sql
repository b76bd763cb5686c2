-- An empty file of schema version 1: see migrations.test.ts.
CREATE TABLE treadle_schema (
  version INTEGER PRIMARY KEY,
  compatible_from INTEGER NOT NULL,
  applied_at INTEGER NOT NULL
);
CREATE TABLE treadle_lanes (
  -- Lanes of groups come and go, and other processes remember numbers: none is given twice.
  lane INTEGER PRIMARY KEY AUTOINCREMENT,
  queue TEXT NOT NULL,
  job TEXT NOT NULL,
  priority INTEGER NOT NULL,
  single INTEGER NOT NULL,
  recurring INTEGER NOT NULL,
  grouped INTEGER NOT NULL DEFAULT 0,
  family INTEGER NOT NULL DEFAULT 0,
  grp TEXT NOT NULL DEFAULT '',
  busy INTEGER NOT NULL DEFAULT 0,
  turn INTEGER NOT NULL DEFAULT 0,
  held_until INTEGER,
  ready INTEGER NOT NULL DEFAULT 0,
  scheduled INTEGER NOT NULL DEFAULT 0,
  blocked INTEGER NOT NULL DEFAULT 0,
  running INTEGER NOT NULL DEFAULT 0,
  succeeded INTEGER NOT NULL DEFAULT 0,
  dead INTEGER NOT NULL DEFAULT 0,
  cancelled INTEGER NOT NULL DEFAULT 0,
  skipped INTEGER NOT NULL DEFAULT 0,
  UNIQUE (queue, job, priority, single, recurring, grouped, grp)
);
CREATE INDEX treadle_lanes_job ON treadle_lanes (job) WHERE family = 0;
CREATE INDEX treadle_lanes_queue ON treadle_lanes (queue) WHERE family = 0;
CREATE INDEX treadle_lanes_ready ON treadle_lanes (priority DESC) WHERE family = 0 AND ready > 0;
CREATE INDEX treadle_lanes_group ON treadle_lanes (job, grp) WHERE family > 0;
CREATE INDEX treadle_lanes_turns ON treadle_lanes (family, busy, turn) WHERE family > 0 AND ready > 0 AND held_until IS NULL;
CREATE INDEX treadle_lanes_held ON treadle_lanes (held_until) WHERE held_until IS NOT NULL AND ready > 0;
CREATE TABLE treadle_rates (scope TEXT PRIMARY KEY, log TEXT NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX treadle_rates_expiry ON treadle_rates (expires_at);

CREATE TABLE treadle_jobs (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  lane INTEGER NOT NULL,
  state INTEGER NOT NULL,
  run_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  identity TEXT NOT NULL,
  payload TEXT NOT NULL,
  signature TEXT,
  unique_key TEXT,
  unique_until INTEGER,
  schedule TEXT,
  attempts INTEGER NOT NULL DEFAULT 0,
  rescues INTEGER NOT NULL DEFAULT 0,
  token TEXT,
  owner TEXT,
  lease_until INTEGER,
  started_at INTEGER,
  cancel INTEGER NOT NULL DEFAULT 0,
  begun INTEGER NOT NULL DEFAULT 0,
  finished_at INTEGER,
  result TEXT,
  progress TEXT,
  reason TEXT,
  errors TEXT,
  linked INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX treadle_jobs_ready ON treadle_jobs (lane, run_at) WHERE state = 0;
CREATE INDEX treadle_jobs_scheduled ON treadle_jobs (run_at) WHERE state = 1;
CREATE INDEX treadle_jobs_running ON treadle_jobs (lease_until) WHERE state = 3;
CREATE INDEX treadle_jobs_ended ON treadle_jobs (state, finished_at) WHERE state >= 4;
CREATE INDEX treadle_jobs_cancelling ON treadle_jobs (owner) WHERE cancel = 1;
CREATE INDEX treadle_jobs_recurring ON treadle_jobs (schedule, run_at) WHERE schedule IS NOT NULL AND state = 1;
CREATE UNIQUE INDEX treadle_jobs_unique ON treadle_jobs (unique_key) WHERE unique_key IS NOT NULL AND state < 4
  AND (unique_until = 0 OR (unique_until = 1 AND started_at IS NULL));
CREATE TABLE treadle_unique (key TEXT PRIMARY KEY, job_id TEXT NOT NULL, until INTEGER) WITHOUT ROWID;
CREATE INDEX treadle_unique_until ON treadle_unique (until) WHERE until IS NOT NULL;

CREATE TABLE treadle_links (
  seq INTEGER PRIMARY KEY,
  root TEXT NOT NULL,
  parent TEXT,
  longest_wait_ms INTEGER NOT NULL,
  pending INTEGER NOT NULL DEFAULT 0,
  gives_up_at INTEGER,
  doom INTEGER,
  ending TEXT
);
CREATE INDEX treadle_links_root ON treadle_links (root);
CREATE INDEX treadle_links_waiting ON treadle_links (gives_up_at) WHERE gives_up_at IS NOT NULL;
CREATE TABLE treadle_edges (
  edge INTEGER PRIMARY KEY,
  waiter INTEGER NOT NULL,
  target INTEGER,
  target_id TEXT NOT NULL,
  target_job TEXT,
  key TEXT,
  policy TEXT NOT NULL,
  waiting INTEGER NOT NULL DEFAULT 1,
  outcome INTEGER,
  result TEXT,
  error TEXT
);
CREATE INDEX treadle_edges_waiter ON treadle_edges (waiter);
CREATE UNIQUE INDEX treadle_edges_child ON treadle_edges (waiter, key) WHERE key IS NOT NULL;
CREATE INDEX treadle_edges_target ON treadle_edges (target) WHERE outcome IS NULL;
CREATE TABLE treadle_gone (root TEXT NOT NULL, state INTEGER NOT NULL, jobs INTEGER NOT NULL, PRIMARY KEY (root, state)) WITHOUT ROWID;

CREATE TABLE treadle_paused (queue TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE treadle_once (key TEXT PRIMARY KEY, job_id TEXT NOT NULL, claimed_at INTEGER NOT NULL, done_until INTEGER, result TEXT) WITHOUT ROWID;
CREATE INDEX treadle_once_done ON treadle_once (done_until) WHERE done_until IS NOT NULL;
CREATE INDEX treadle_once_held ON treadle_once (claimed_at) WHERE done_until IS NULL;
CREATE TABLE treadle_locks (
  name TEXT PRIMARY KEY,
  owner TEXT NOT NULL,
  host TEXT NOT NULL,
  pid INTEGER NOT NULL,
  since INTEGER NOT NULL,
  expires_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX treadle_locks_expiry ON treadle_locks (expires_at);
CREATE TABLE treadle_workers (
  owner TEXT PRIMARY KEY,
  seen_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  said TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX treadle_workers_expiry ON treadle_workers (expires_at);
CREATE TABLE treadle_worker_jobs (owner TEXT PRIMARY KEY, jobs TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE treadle_schedules (
  name TEXT PRIMARY KEY,
  expression TEXT NOT NULL,
  timezone TEXT NOT NULL,
  version TEXT NOT NULL,
  since INTEGER NOT NULL,
  paused_at INTEGER
) WITHOUT ROWID;
CREATE TABLE treadle_schedule_revision (revision INTEGER NOT NULL);
INSERT INTO treadle_schedule_revision VALUES (0);
CREATE TABLE treadle_occurrences (
  schedule TEXT NOT NULL,
  at INTEGER NOT NULL,
  job_id TEXT NOT NULL,
  stored_at INTEGER NOT NULL,
  outcome INTEGER,
  started_at INTEGER,
  finished_at INTEGER,
  PRIMARY KEY (schedule, at)
) WITHOUT ROWID;
CREATE INDEX treadle_occurrences_at ON treadle_occurrences (at);
CREATE INDEX treadle_occurrences_job ON treadle_occurrences (job_id);
CREATE INDEX treadle_occurrences_unended ON treadle_occurrences (schedule, at) WHERE outcome IS NULL;
INSERT INTO treadle_schema (version, compatible_from, applied_at) VALUES (1, 1, 1794909113484);
