-- A file of schema version 4 as the program of that time has filled it, at 2026-01-01T00:00:01Z: see migrations.test.ts.
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
    skipped INTEGER NOT NULL DEFAULT 0, open INTEGER NOT NULL DEFAULT 0,
    UNIQUE (queue, job, priority, single, recurring, grouped, grp)
  );
CREATE TABLE treadle_rates (scope TEXT PRIMARY KEY, log TEXT NOT NULL, expires_at INTEGER NOT NULL) WITHOUT ROWID;
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
  , number INTEGER, stamp INTEGER, seal TEXT);
CREATE TABLE treadle_unique (key TEXT PRIMARY KEY, job_id TEXT NOT NULL, until INTEGER) WITHOUT ROWID;
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
  , seal TEXT);
CREATE TABLE treadle_gone (root TEXT NOT NULL, state INTEGER NOT NULL, jobs INTEGER NOT NULL, PRIMARY KEY (root, state)) WITHOUT ROWID;
CREATE TABLE treadle_paused (queue TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE treadle_once (key TEXT PRIMARY KEY, job_id TEXT NOT NULL, claimed_at INTEGER NOT NULL, done_until INTEGER, result TEXT, seal TEXT) WITHOUT ROWID;
CREATE TABLE treadle_locks (
    name TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    host TEXT NOT NULL,
    pid INTEGER NOT NULL,
    since INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) WITHOUT ROWID;
CREATE TABLE treadle_workers (
    owner TEXT PRIMARY KEY,
    seen_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    said TEXT NOT NULL
  ) WITHOUT ROWID;
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
CREATE TABLE treadle_numbers (next INTEGER NOT NULL);
CREATE TABLE treadle_stamps (stamp INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);
INSERT INTO treadle_schema (version, compatible_from, applied_at) VALUES (1, 1, 1794909113484);
INSERT INTO treadle_schema (version, compatible_from, applied_at) VALUES (2, 1, 1794909113485);
INSERT INTO treadle_schema (version, compatible_from, applied_at) VALUES (3, 3, 1794909113495);
INSERT INTO treadle_schema (version, compatible_from, applied_at) VALUES (4, 3, 1794909113496);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (1, 'default', 'plain', 5, 0, 0, 0, 0, '', 0, 0, NULL, 1, 1, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (2, 'other', 'plain', 7, 0, 0, 0, 0, '', 0, 0, NULL, 2, 0, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (3, 'default', 'succeeded', 5, 0, 0, 0, 0, '', 0, 0, NULL, 0, 0, 0, 0, 1, 0, 0, 0, 0);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (4, 'default', 'dead', 5, 0, 0, 0, 0, '', 0, 0, NULL, 0, 0, 0, 0, 0, 1, 0, 0, 0);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (5, 'default', 'cancelled', 5, 0, 0, 0, 0, '', 0, 0, NULL, 0, 0, 0, 0, 0, 0, 1, 0, 0);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (6, 'default', 'skipped', 5, 0, 0, 0, 0, '', 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 1, 0);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (7, 'default', 'retried', 5, 0, 0, 0, 0, '', 0, 0, NULL, 0, 1, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (8, 'default', 'running', 5, 0, 0, 0, 0, '', 0, 0, NULL, 0, 0, 0, 1, 0, 0, 0, 0, 0);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (9, 'default', 'grouped', 5, 0, 0, 1, 0, '', 0, 1, NULL, 4, 0, 0, 1, 0, 0, 0, 0, 1);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (10, 'default', 'grouped', 5, 0, 0, 1, 9, 'a', 1, 1, NULL, 1, 0, 0, 1, 0, 0, 0, 0, 0);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (11, 'default', 'grouped', 5, 0, 0, 1, 9, 'b', 0, 0, NULL, 2, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (12, 'default', 'grouped', 5, 0, 0, 1, 9, 'c', 0, 0, NULL, 1, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (13, 'default', 'rated', 5, 0, 0, 1, 0, '', 0, 1, NULL, 1, 0, 0, 1, 0, 0, 0, 0, 1);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (14, 'default', 'rated', 5, 0, 0, 1, 13, 'x', 1, 1, 1767225661000, 1, 0, 0, 1, 0, 0, 0, 0, 0);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (15, 'default', 'unique', 5, 0, 0, 0, 0, '', 0, 0, NULL, 2, 0, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (16, 'default', 'gone', 5, 0, 0, 0, 0, '', 0, 0, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (17, 'default', 'once', 5, 0, 0, 0, 0, '', 0, 0, NULL, 0, 0, 0, 0, 1, 0, 0, 0, 0);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (18, 'default', 'step', 5, 0, 0, 0, 0, '', 0, 0, NULL, 2, 0, 2, 0, 0, 0, 0, 0, 1);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (19, 'default', 'saved', 5, 0, 0, 0, 0, '', 0, 0, NULL, 1, 0, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (20, 'default', 'parent', 5, 0, 0, 0, 0, '', 0, 0, NULL, 0, 0, 0, 1, 0, 0, 0, 0, 0);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (21, 'default', 'child of parent', 5, 0, 0, 0, 0, '', 0, 0, NULL, 1, 0, 0, 0, 0, 0, 0, 0, 1);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (22, 'default', 'doomed parent', 5, 0, 0, 0, 0, '', 0, 0, NULL, 0, 0, 0, 1, 0, 0, 0, 0, 0);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (23, 'default', 'child of doomed parent', 5, 0, 0, 0, 0, '', 0, 0, NULL, 0, 0, 0, 0, 0, 1, 0, 0, 0);
INSERT INTO treadle_lanes (lane, queue, job, priority, single, recurring, grouped, family, grp, busy, turn, held_until, ready, scheduled, blocked, running, succeeded, dead, cancelled, skipped, open) VALUES (24, 'default', 'nightly', 5, 0, 1, 0, 0, '', 0, 0, NULL, 0, 1, 0, 0, 1, 0, 0, 0, 0);
INSERT INTO treadle_rates (scope, log, expires_at) VALUES ('group
rated
x', '[[1767225601000,1]]', 1767229201000);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736524801803, '019b76da-a800-770b-b051-84e3140e567d', 1, 0, 1767225600000, 1767225600000, '[1,"019b76da-a800-770b-b051-84e3140e567d","plain","plain","default",5,3,null,false,null,null]', '{"is":"ready"}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736524801804, '019b76da-a800-770c-a3b6-e6445cac6955', 2, 0, 1767225600000, 1767225600000, '[1,"019b76da-a800-770c-a3b6-e6445cac6955","plain","plain","other",7,3,null,false,null,null]', '{"is":"ready too"}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736524801805, '019b76da-a800-770d-a984-570555599d46', 2, 0, 1767225600000, 1767225600000, '', '{"is":"stamped"}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, 1, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736524801806, '019b76da-a800-770e-b193-0385e9a8aa51', 1, 1, 1767229200000, 1767225600000, '', '{"is":"scheduled"}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, 2, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736524801807, '019b76da-a800-770f-97eb-c9926ed7f537', 3, 4, 1767225600000, 1767225600000, '[1,"019b76da-a800-770f-97eb-c9926ed7f537","succeeded","succeeded","default",5,3,null,false,null,null]', '{"is":"succeeded"}', NULL, NULL, NULL, NULL, 1, 0, NULL, 'worker-1', NULL, 1767225600000, 0, 0, 1767225600000, '{"gave":1}', NULL, NULL, NULL, 0, NULL, NULL, 'a seal');
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736524801808, '019b76da-a800-7710-b56d-f7b35a916f70', 4, 5, 1767225600000, 1767225600000, '[1,"019b76da-a800-7710-b56d-f7b35a916f70","dead","dead","default",5,3,null,false,null,null]', '{"is":"dead"}', NULL, NULL, NULL, NULL, 1, 0, NULL, 'worker-1', NULL, 1767225600000, 0, 0, 1767225600000, NULL, NULL, 'exhausted', '[{"attempt":1,"at":1767225600000,"message":"it broke"}]', 0, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736524801809, '019b76da-a800-7711-852c-f3784d01cc20', 5, 6, 1767225600000, 1767225600000, '[1,"019b76da-a800-7711-852c-f3784d01cc20","cancelled","cancelled","default",5,3,null,false,null,null]', '{"is":"cancelled"}', NULL, NULL, NULL, NULL, 1, 0, NULL, 'worker-1', NULL, 1767225600000, 0, 0, 1767225600000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736524801810, '019b76da-a800-7712-983d-ec9842c6589e', 6, 7, 1767225600000, 1767225600000, '[1,"019b76da-a800-7712-983d-ec9842c6589e","skipped","skipped","default",5,3,null,false,null,null]', '{"is":"skipped"}', NULL, NULL, NULL, NULL, 0, 0, NULL, 'worker-1', NULL, 1767225600000, 0, 0, 1767225600000, NULL, NULL, 'not today', NULL, 0, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736524801811, '019b76da-a800-7713-bb08-783976d4b4d5', 7, 1, 1767229200000, 1767225600000, '[1,"019b76da-a800-7713-bb08-783976d4b4d5","retried","retried","default",5,3,null,false,null,null]', '{"is":"retried"}', NULL, NULL, NULL, NULL, 1, 0, NULL, 'worker-1', NULL, 1767225600000, 0, 0, NULL, NULL, NULL, NULL, '[{"attempt":1,"at":1767225600000,"message":"it broke"}]', 0, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736524801812, '019b76da-a800-7714-87e8-5ad821e1889a', 8, 3, 1767225600000, 1767225600000, '[1,"019b76da-a800-7714-87e8-5ad821e1889a","running","running","default",5,3,null,false,null,null]', '{"is":"running"}', NULL, NULL, NULL, NULL, 1, 0, 'u0qkbFffVwbyWvn5DJ5wMA', 'worker-1', 1767229200000, 1767225600000, 0, 0, NULL, NULL, '{"done":0.5}', NULL, NULL, 0, 42, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897757, '019b76da-abe8-76dd-87e7-4b92e76ecbc8', 10, 3, 1767225601000, 1767225601000, '[1,"019b76da-abe8-76dd-87e7-4b92e76ecbc8","grouped","grouped","default",5,3,null,false,null,null]', '{"is":"of a 0"}', NULL, NULL, NULL, NULL, 1, 0, 'kO3bPXSap08ziCuaV5icuA', 'worker-1', 1767229201000, 1767225601000, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897758, '019b76da-abe8-76de-83f4-ddb2ce89bf49', 10, 0, 1767225601000, 1767225601000, '[1,"019b76da-abe8-76de-83f4-ddb2ce89bf49","grouped","grouped","default",5,3,null,false,null,null]', '{"is":"of a 1"}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897759, '019b76da-abe8-76df-ba52-212464b96ea1', 11, 0, 1767225601000, 1767225601000, '', '{"is":"of b 2"}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, 3, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897760, '019b76da-abe8-76e0-a3c2-258b78a9fb15', 11, 0, 1767225601000, 1767225601000, '', '{"is":"of b 3"}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, 3, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897761, '019b76da-abe8-76e1-8b30-e5dfcea2638f', 12, 0, 1767225601000, 1767225601000, '', '{"is":"of c 4"}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, 3, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897762, '019b76da-abe8-76e2-9847-826680d7af25', 14, 3, 1767225601000, 1767225601000, '[1,"019b76da-abe8-76e2-9847-826680d7af25","rated","rated","default",5,3,null,false,null,null]', '{"is":"of x 0"}', NULL, NULL, NULL, NULL, 1, 0, 'OSfRPfzm96WBZV3Pv5z9Ow', 'worker-1', 1767229201000, 1767225601000, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897763, '019b76da-abe8-76e3-b2c2-5bbe8489604b', 14, 0, 1767225601000, 1767225601000, '[1,"019b76da-abe8-76e3-b2c2-5bbe8489604b","rated","rated","default",5,3,null,false,null,null]', '{"is":"of x 1"}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897764, '019b76da-abe8-76e4-a46a-d0d589f7f34b', 15, 0, 1767225601000, 1767225601000, '[1,"019b76da-abe8-76e4-a46a-d0d589f7f34b","unique","unique","default",5,3,null,false,null,null]', '{"is":"unique until it ends"}', NULL, 'unique
ended', 0, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897765, '019b76da-abe8-76e5-a3ed-2be54dfe4b23', 15, 0, 1767225601000, 1767225601000, '', '{"is":"unique until it starts"}', NULL, 'unique
started', 1, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, 4, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897768, '019b76da-abe8-76e8-be44-5a28f494ddb6', 17, 4, 1767225601000, 1767225601000, '[1,"019b76da-abe8-76e8-be44-5a28f494ddb6","once","once","default",5,3,null,false,null,null]', '{"is":"once"}', NULL, NULL, NULL, NULL, 1, 0, NULL, 'worker-1', NULL, 1767225601000, 0, 0, 1767225601000, '{"paid":true}', NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897769, '019b76da-abe8-76e9-a39f-07c728525e8f', 18, 0, 1767225601000, 1767225601000, '[1,"019b76da-abe8-76e9-a39f-07c728525e8f","step","step","default",5,3,null,false,null,null]', '{"is":"first"}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897770, '019b76da-abe8-76ea-9743-b6faa86e9be4', 18, 2, 1767225601000, 1767225601000, '', '{"is":"second"}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 1, NULL, 6, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897771, '019b76da-abe8-76eb-924a-837ab7371611', 18, 0, 1767225601000, 1767225601000, '', '{"is":"in vain"}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 1, NULL, 6, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897772, '019b76da-abe8-76ec-a13e-6573f5a1859b', 19, 0, 1767225601000, 1767225601000, '[1,"019b76da-abe8-76ec-a13e-6573f5a1859b","saved","saved","default",5,3,null,false,null,null]', '{"is":"rescued"}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897773, '019b76da-abe8-76ed-aa33-c1e9b507475a', 18, 2, 1767225601000, 1767225601000, '', '{"is":"rescuer"}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 1, NULL, 6, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897774, '019b76da-abe8-76ee-863c-3ae2928c1361', 20, 3, 1767225601000, 1767225601000, '[1,"019b76da-abe8-76ee-863c-3ae2928c1361","parent","parent","default",5,3,null,false,null,null]', '{"is":"parent"}', NULL, NULL, NULL, NULL, 1, 0, 'BWFCp8FvXLtjRwgkVCAAfQ', 'worker-1', 1767229201000, 1767225601000, 0, 0, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897775, '019b76da-abe8-76ef-b903-1dc435f1e95a', 21, 0, 1767225601000, 1767225601000, '[1,"019b76da-abe8-76ef-b903-1dc435f1e95a","child of parent","child of parent","default",5,3,null,false,null,null]', '{"is":"child of parent"}', NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897776, '019b76da-abe8-76f0-b2e4-551751c9504d', 22, 3, 1767225601000, 1767225601000, '[1,"019b76da-abe8-76f0-b2e4-551751c9504d","doomed parent","doomed parent","default",5,3,null,false,null,null]', '{"is":"doomed parent"}', NULL, NULL, NULL, NULL, 1, 0, 'oEY-CJNUC_0cfqTt6tv8mA', 'worker-1', 1767229201000, 1767225601000, 0, 0, NULL, NULL, NULL, NULL, NULL, 1, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897777, '019b76da-abe8-76f1-8086-e97b26cfcf2c', 23, 5, 1767225601000, 1767225601000, '[1,"019b76da-abe8-76f1-8086-e97b26cfcf2c","child of doomed parent","child of doomed parent","default",5,3,null,false,null,null]', '{"is":"child of doomed parent"}', NULL, NULL, NULL, NULL, 1, 0, NULL, 'worker-1', NULL, 1767225601000, 0, 0, 1767225601000, NULL, NULL, 'exhausted', '[{"attempt":1,"at":1767225601000,"message":"the child broke"}]', 1, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897778, '019b76da-abe8-76f2-bdd1-ac9b82172501', 24, 4, 1767225541000, 1767225601000, '[1,"019b76da-abe8-76f2-bdd1-ac9b82172501","nightly","nightly","default",5,3,null,false,null,null]', '{"is":"last night"}', NULL, NULL, NULL, 'nightly', 1, 0, NULL, 'worker-1', NULL, 1767225601000, 0, 0, 1767225601000, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO treadle_jobs (seq, id, lane, state, run_at, created_at, identity, payload, signature, unique_key, unique_until, schedule, attempts, rescues, token, owner, lease_until, started_at, cancel, begun, finished_at, result, progress, reason, errors, linked, number, stamp, seal) VALUES (775736528897779, '019b76da-abe8-76f3-b74b-2f0d28136a11', 24, 1, 1767229141000, 1767225601000, '[1,"019b76da-abe8-76f3-b74b-2f0d28136a11","nightly","nightly","default",5,3,null,false,null,null]', '{"is":"next night"}', NULL, NULL, NULL, 'nightly', 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL);
INSERT INTO treadle_unique (key, job_id, until) VALUES ('gone
day', '019b76da-abe8-76e7-9121-8b0426b12444', 1767312001000);
INSERT INTO treadle_unique (key, job_id, until) VALUES ('gone
ever', '019b76da-abe8-76e6-be2c-32f62842b48d', NULL);
INSERT INTO treadle_links (seq, root, parent, longest_wait_ms, pending, gives_up_at, doom, ending) VALUES (775736528897769, 'flow', NULL, 3600000, 0, NULL, NULL, NULL);
INSERT INTO treadle_links (seq, root, parent, longest_wait_ms, pending, gives_up_at, doom, ending) VALUES (775736528897770, 'flow', NULL, 36000000, 1, 1767261601000, NULL, NULL);
INSERT INTO treadle_links (seq, root, parent, longest_wait_ms, pending, gives_up_at, doom, ending) VALUES (775736528897771, 'flow', NULL, 36000000, 0, NULL, NULL, NULL);
INSERT INTO treadle_links (seq, root, parent, longest_wait_ms, pending, gives_up_at, doom, ending) VALUES (775736528897773, 'flow', NULL, 36000000, 1, 1767261601000, NULL, NULL);
INSERT INTO treadle_links (seq, root, parent, longest_wait_ms, pending, gives_up_at, doom, ending) VALUES (775736528897774, '019b76da-abe8-76ee-863c-3ae2928c1361', NULL, 3600000, 1, NULL, NULL, NULL);
INSERT INTO treadle_links (seq, root, parent, longest_wait_ms, pending, gives_up_at, doom, ending) VALUES (775736528897775, '019b76da-abe8-76ee-863c-3ae2928c1361', '019b76da-abe8-76ee-863c-3ae2928c1361', 3600000, 0, NULL, NULL, NULL);
INSERT INTO treadle_links (seq, root, parent, longest_wait_ms, pending, gives_up_at, doom, ending) VALUES (775736528897776, '019b76da-abe8-76f0-b2e4-551751c9504d', NULL, 3600000, 0, NULL, 5, NULL);
INSERT INTO treadle_links (seq, root, parent, longest_wait_ms, pending, gives_up_at, doom, ending) VALUES (775736528897777, '019b76da-abe8-76f0-b2e4-551751c9504d', '019b76da-abe8-76f0-b2e4-551751c9504d', 3600000, 0, NULL, NULL, NULL);
INSERT INTO treadle_edges (edge, waiter, target, target_id, target_job, key, policy, waiting, outcome, result, error, seal) VALUES (1, 775736528897770, 775736528897769, '019b76da-abe8-76e9-a39f-07c728525e8f', 'step', NULL, 'fail', 1, NULL, NULL, NULL, NULL);
INSERT INTO treadle_edges (edge, waiter, target, target_id, target_job, key, policy, waiting, outcome, result, error, seal) VALUES (2, 775736528897771, NULL, 'no job', NULL, NULL, 'ignore', 0, 8, NULL, NULL, NULL);
INSERT INTO treadle_edges (edge, waiter, target, target_id, target_job, key, policy, waiting, outcome, result, error, seal) VALUES (3, 775736528897773, 775736528897772, '019b76da-abe8-76ec-a13e-6573f5a1859b', 'saved', NULL, 'rescue', 1, NULL, NULL, NULL, NULL);
INSERT INTO treadle_edges (edge, waiter, target, target_id, target_job, key, policy, waiting, outcome, result, error, seal) VALUES (4, 775736528897774, 775736528897775, '019b76da-abe8-76ef-b903-1dc435f1e95a', 'child of parent', 'the child', 'fail', 1, NULL, NULL, NULL, NULL);
INSERT INTO treadle_edges (edge, waiter, target, target_id, target_job, key, policy, waiting, outcome, result, error, seal) VALUES (5, 775736528897776, 775736528897777, '019b76da-abe8-76f1-8086-e97b26cfcf2c', 'child of doomed parent', 'the child', 'fail', 0, 5, NULL, 'the child broke', NULL);
INSERT INTO treadle_paused (queue) VALUES ('stopped');
INSERT INTO treadle_once (key, job_id, claimed_at, done_until, result, seal) VALUES ('paid', '019b76da-abe8-76e8-be44-5a28f494ddb6', 1767225601000, 1767312001000, '{"paid":true}', 'once seal');
INSERT INTO treadle_once (key, job_id, claimed_at, done_until, result, seal) VALUES ('paying', '019b76da-a800-7714-87e8-5ad821e1889a', 1767225601000, NULL, NULL, NULL);
INSERT INTO treadle_locks (name, owner, host, pid, since, expires_at) VALUES ('leader', 'program 1', 'host', 7, 1767225601000, 1767229201000);
INSERT INTO treadle_workers (owner, seen_at, expires_at, said) VALUES ('worker-1', 1767225601000, 1767229201000, '{"owner":"worker-1","host":"host","pid":7,"version":"1","startedAt":1767225601000,"queues":null,"concurrency":1,"allowed":1,"running":1,"breaker":"closed"}');
INSERT INTO treadle_worker_jobs (owner, jobs) VALUES ('worker-1', '["plain"]');
INSERT INTO treadle_schedules (name, expression, timezone, version, since, paused_at) VALUES ('nightly', '* * * * *', 'UTC', 'v1', 1767225601000, NULL);
INSERT INTO treadle_schedules (name, expression, timezone, version, since, paused_at) VALUES ('weekly', '* * * * *', 'UTC', 'v1', 1767225601000, 1767225601000);
INSERT INTO treadle_schedule_revision (revision) VALUES (3);
INSERT INTO treadle_occurrences (schedule, at, job_id, stored_at, outcome, started_at, finished_at) VALUES ('nightly', 1767225541000, '019b76da-abe8-76f2-bdd1-ac9b82172501', 1767225601000, 4, 1767225601000, 1767225601000);
INSERT INTO treadle_occurrences (schedule, at, job_id, stored_at, outcome, started_at, finished_at) VALUES ('nightly', 1767229141000, '019b76da-abe8-76f3-b74b-2f0d28136a11', 1767225601000, NULL, NULL, NULL);
INSERT INTO treadle_numbers (next) VALUES (43);
INSERT INTO treadle_stamps (stamp, text) VALUES (1, '"plain","plain","other",7,3,null,false,null,null]');
INSERT INTO treadle_stamps (stamp, text) VALUES (2, '"plain","plain","default",5,3,null,false,null,null]');
INSERT INTO treadle_stamps (stamp, text) VALUES (3, '"grouped","grouped","default",5,3,null,false,null,null]');
INSERT INTO treadle_stamps (stamp, text) VALUES (4, '"unique","unique","default",5,3,null,false,null,null]');
INSERT INTO treadle_stamps (stamp, text) VALUES (5, '"gone","gone","default",5,3,null,false,null,null]');
INSERT INTO treadle_stamps (stamp, text) VALUES (6, '"step","step","default",5,3,null,false,null,null]');
CREATE INDEX treadle_lanes_job ON treadle_lanes (job) WHERE family = 0;
CREATE INDEX treadle_lanes_queue ON treadle_lanes (queue) WHERE family = 0;
CREATE INDEX treadle_lanes_group ON treadle_lanes (job, grp) WHERE family > 0;
CREATE INDEX treadle_lanes_turns ON treadle_lanes (family, busy, turn) WHERE family > 0 AND ready > 0 AND held_until IS NULL;
CREATE INDEX treadle_lanes_held ON treadle_lanes (held_until) WHERE held_until IS NOT NULL AND ready > 0;
CREATE INDEX treadle_rates_expiry ON treadle_rates (expires_at);
CREATE INDEX treadle_jobs_ready ON treadle_jobs (lane, run_at) WHERE state = 0;
CREATE INDEX treadle_jobs_scheduled ON treadle_jobs (run_at) WHERE state = 1;
CREATE INDEX treadle_jobs_running ON treadle_jobs (lease_until) WHERE state = 3;
CREATE INDEX treadle_jobs_ended ON treadle_jobs (state, finished_at) WHERE state >= 4;
CREATE INDEX treadle_jobs_cancelling ON treadle_jobs (owner) WHERE cancel = 1;
CREATE INDEX treadle_jobs_recurring ON treadle_jobs (schedule, run_at) WHERE schedule IS NOT NULL AND state = 1;
CREATE UNIQUE INDEX treadle_jobs_unique ON treadle_jobs (unique_key) WHERE unique_key IS NOT NULL AND state < 4
    AND (unique_until = 0 OR (unique_until = 1 AND started_at IS NULL));
CREATE INDEX treadle_unique_until ON treadle_unique (until) WHERE until IS NOT NULL;
CREATE INDEX treadle_links_root ON treadle_links (root);
CREATE INDEX treadle_links_waiting ON treadle_links (gives_up_at) WHERE gives_up_at IS NOT NULL;
CREATE INDEX treadle_edges_waiter ON treadle_edges (waiter);
CREATE UNIQUE INDEX treadle_edges_child ON treadle_edges (waiter, key) WHERE key IS NOT NULL;
CREATE INDEX treadle_edges_target ON treadle_edges (target) WHERE outcome IS NULL;
CREATE INDEX treadle_once_done ON treadle_once (done_until) WHERE done_until IS NOT NULL;
CREATE INDEX treadle_once_held ON treadle_once (claimed_at) WHERE done_until IS NULL;
CREATE INDEX treadle_locks_expiry ON treadle_locks (expires_at);
CREATE INDEX treadle_workers_expiry ON treadle_workers (expires_at);
CREATE INDEX treadle_occurrences_at ON treadle_occurrences (at);
CREATE INDEX treadle_occurrences_job ON treadle_occurrences (job_id);
CREATE INDEX treadle_occurrences_unended ON treadle_occurrences (schedule, at) WHERE outcome IS NULL;
CREATE UNIQUE INDEX treadle_jobs_number ON treadle_jobs (number) WHERE number IS NOT NULL;
CREATE INDEX treadle_lanes_open ON treadle_lanes (priority DESC) WHERE family = 0 AND open = 1;
