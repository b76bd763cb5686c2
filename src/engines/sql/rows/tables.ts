/** The numbers of the states as stored. Below 4 a job is alive. */
export const stateNumber = {
  ready: 0,
  scheduled: 1,
  blocked: 2,
  running: 3,
  succeeded: 4,
  dead: 5,
  cancelled: 6,
  skipped: 7,
} as const

/** Conditions on jobs that are found by id. Written as a sum, so that no planner prefers the index of all jobs in that state. */
export const isReady = 'state + 0 = 0'
export const isRunning = 'state + 0 = 3'
/** Running jobs whose end concerns no other row: no job waits for it, and it is no occurrence of a schedule. */
export const endsAlone = `${isRunning} AND linked = 0 AND schedule IS NULL`
/** Jobs that are listed by lane and state: all but those that are ready or running, which have indexes of their own. */
export const isListed = 'state * (state - 3) <> 0'
export const isGrouped = "grp <> ''"
export const crowdIsReady = `${isReady} AND crowd IS NOT NULL`

/**
 * The type of a column: the id of a job; a short text that is compared exactly and can be indexed; a text of any length; a 32-bit
 * number; an instant or another number up to 2^53; a flag stored as 1 or 0; or a number that the table increments.
 */
export type ColumnType = 'id' | 'name' | 'text' | 'int' | 'big' | 'flag' | 'serial'

/** A table, column or index that is not in the first schema has the version that introduced it. */
export interface Dated {
  readonly since?: number
}

export interface Column extends Dated {
  readonly type: ColumnType
  readonly nullable?: boolean
  readonly fallback?: string | number
}

function column(type: ColumnType, fallback?: string | number): Column {
  return fallback === undefined ? { type } : { type, fallback }
}

function nullable(type: ColumnType, since?: number): Column {
  return since === undefined ? { type, nullable: true } : { type, nullable: true, since }
}

export interface Table extends Dated {
  readonly columns: Readonly<Record<string, Column>>
  readonly primary: readonly string[]
}

/**
 * The tables, as they are in the newest schema.
 *
 * `jobs`: one row per job. `lanes`: all jobs of one queue, key and priority are in one lane. A lane is deleted once it has been
 * empty (`empty_since`) for long enough. Jobs in groups (`grp`) share the lane of their key. A claim reads an index of ready jobs
 * by lane, group and time. If there are many lanes, the later ones are crowded: their jobs have their order in `crowd`, and are
 * in an index of that order too.
 * `counts`: changes to the number of jobs of a lane in a state, to be summed. From time to time they are added to `totals`, where
 * lane 0 has the sums of all lanes. So no transaction waits for another one to count. `held_key` is a digest of the unique key
 * while the job's state holds it; `unique_keys` has the keys that outlive their job.
 * `groups`: the groups of a lane that may have ready jobs, in order of their `turn`; a group that is out of tokens is held until
 * a given time. `version` changes with each arrival, so that a group is not dropped while a job arrives.
 * `links`, `edges`, `gone`: workflows. A job is `linked` if it is part of a workflow or another job waits for it; other jobs do
 * not pay for links. An edge says that one job waits for another: while it is `waiting`, it counts in the `pending` of the
 * waiting job. It outlives its target. `target_name` is what the job waits for if that is not an id; `child_key` is a digest of
 * the `child_name` that a parent gave its child. `doom` says what will happen to a running job, and `ending` what will happen to
 * one whose handler is done. A job that `stands_in` for others is skipped if none of them failed.
 * `schedules`: each schedule has the revision of its last change; one that was created at run time has a `definition`.
 * `removed_schedules`: schedules that were removed, kept until every scheduler has noticed.
 * `numbers`: the next number to give to a job.
 * `transfers`: parcels of jobs on their way to another queue, receipts of parcels that arrived, and the name of this queue.
 * `mutexes`: rows to lock for work that only one transaction may do at a time.
 * `rollups`: what happened to jobs, summed per time bucket, one row per bucket; `body` is in the format of `textOfCells`.
 * `events`: chunks of recent events, written while there are `event_listeners`; `event_position` says where they end.
 * `logs`: what jobs have logged, one row per chunk of lines; `body` is in the format of `LogLine`. `tags`: the words that jobs
 * are found by.
 */
export const tables = {
  jobs: {
    columns: {
      id: column('id'),
      lane: column('int'),
      grp: column('name', ''),
      state: column('int'),
      run_at: column('big'),
      created_at: column('big'),
      identity: column('text'),
      payload: column('text'),
      signature: nullable('text'),
      unique_key: nullable('text'),
      unique_until: nullable('big'),
      held_key: nullable('name'),
      schedule: nullable('name'),
      attempts: column('int', 0),
      rescues: column('int', 0),
      token: nullable('name'),
      owner: nullable('name'),
      lease_until: nullable('big'),
      started_at: nullable('big'),
      cancel: column('flag', 0),
      begun: column('flag', 0),
      finished_at: nullable('big'),
      result: nullable('text'),
      progress: nullable('text'),
      reason: nullable('text'),
      errors: nullable('text'),
      linked: column('flag', 0),
      number: nullable('big', 2),
      seal: nullable('text', 3),
      crowd: nullable('int', 6),
    },
    primary: ['id'],
  },
  lanes: {
    columns: {
      lane: column('serial'),
      queue: column('name'),
      job: column('name'),
      priority: column('int'),
      single: column('flag'),
      recurring: column('flag'),
      grouped: column('flag'),
      turn: column('big', 0),
      empty_since: nullable('big', 6),
    },
    primary: ['lane'],
  },
  counts: {
    columns: { entry: column('serial'), lane: column('int'), state: column('int'), jobs: column('big') },
    primary: ['entry'],
  },
  groups: {
    columns: {
      lane: column('int'),
      grp: column('name'),
      turn: column('big'),
      held_until: column('big', 0),
      version: column('name'),
    },
    primary: ['lane', 'grp'],
  },
  rates: {
    columns: { scope: column('name'), log: column('text'), expires_at: column('big') },
    primary: ['scope'],
  },
  unique_keys: {
    columns: { held_key: column('name'), job_id: column('id'), until: nullable('big') },
    primary: ['held_key'],
  },
  links: {
    columns: {
      id: column('id'),
      root: column('name'),
      parent: nullable('id'),
      longest_wait_ms: column('big'),
      pending: column('int', 0),
      gives_up_at: nullable('big'),
      doom: nullable('text'),
      ending: nullable('text'),
      stands_in: column('flag', 0),
    },
    primary: ['id'],
  },
  edges: {
    columns: {
      edge: column('serial'),
      waiter: column('id'),
      target: column('id'),
      target_name: nullable('text'),
      target_job: nullable('name'),
      child_key: nullable('name'),
      child_name: nullable('text'),
      policy: column('name'),
      waiting: column('flag', 1),
      outcome: nullable('int'),
      result: nullable('text'),
      error: nullable('text'),
      seal: nullable('text', 3),
    },
    primary: ['edge'],
  },
  gone: {
    columns: { root: column('name'), state: column('int'), jobs: column('int') },
    primary: ['root', 'state'],
  },
  paused: { columns: { queue: column('name') }, primary: ['queue'] },
  once: {
    columns: {
      once_key: column('name'),
      job_id: column('name'),
      claimed_at: column('big'),
      done_until: nullable('big'),
      result: nullable('text'),
      seal: nullable('text', 3),
    },
    primary: ['once_key'],
  },
  locks: {
    columns: {
      name: column('name'),
      owner: column('name'),
      host: column('name'),
      pid: column('int'),
      since: column('big'),
      expires_at: column('big'),
    },
    primary: ['name'],
  },
  mutexes: { columns: { name: column('name') }, primary: ['name'] },
  workers: {
    columns: { owner: column('name'), seen_at: column('big'), expires_at: column('big'), said: column('text') },
    primary: ['owner'],
  },
  worker_jobs: { columns: { owner: column('name'), jobs: column('text') }, primary: ['owner'] },
  schedules: {
    columns: {
      name: column('name'),
      expression: column('text'),
      timezone: column('name'),
      version: column('text'),
      since: column('big'),
      paused_at: nullable('big'),
      definition: nullable('text', 4),
      signature: nullable('text', 4),
      revision: { type: 'big', fallback: 1, since: 4 },
    },
    primary: ['name'],
  },
  removed_schedules: {
    columns: { name: column('name'), revision: column('big'), removed_at: column('big') },
    primary: ['name'],
    since: 4,
  },
  schedule_revision: { columns: { one: column('int'), revision: column('big') }, primary: ['one'] },
  occurrences: {
    columns: {
      schedule: column('name'),
      at: column('big'),
      job_id: column('id'),
      stored_at: column('big'),
      outcome: nullable('int'),
      started_at: nullable('big'),
      finished_at: nullable('big'),
    },
    primary: ['schedule', 'at'],
  },
  numbers: { columns: { one: column('int'), next: column('big') }, primary: ['one'], since: 2 },
  transfers: {
    columns: {
      name: column('name'),
      part: column('int'),
      target: nullable('name'),
      at: column('big'),
      body: column('text'),
    },
    primary: ['name', 'part'],
    since: 6,
  },
  logs: {
    columns: {
      job_id: column('id'),
      first_line: column('big'),
      last_line: column('big'),
      attempt: column('int'),
      bytes: column('int'),
      body: column('text'),
    },
    primary: ['job_id', 'first_line'],
    since: 5,
  },
  tags: { columns: { tag: column('name'), job_id: column('id') }, primary: ['tag', 'job_id'], since: 5 },
  rollups: {
    columns: { step: column('big'), at: column('big'), body: column('text') },
    primary: ['step', 'at'],
    since: 8,
  },
  event_listeners: {
    columns: { id: column('name'), expires_at: column('big'), wants: column('text') },
    primary: ['id'],
    since: 9,
  },
  event_position: {
    columns: { one: column('int'), epoch: column('big'), last_number: column('big') },
    primary: ['one'],
    since: 9,
  },
  events: {
    columns: { last_number: column('big'), first_number: column('big'), body: column('text') },
    primary: ['last_number'],
    since: 9,
  },
  totals: { columns: { lane: column('int'), state: column('int'), jobs: column('big') }, primary: ['lane', 'state'], since: 7 },
} as const satisfies Readonly<Record<string, Table>>

export type TableName = keyof typeof tables
export type ColumnName<Name extends TableName> = keyof (typeof tables)[Name]['columns'] & string

/** An index. On engines with partial indexes, `where` restricts it to the rows that are looked up. */
export interface Index extends Dated {
  readonly name: string
  readonly table: TableName
  readonly columns: readonly string[]
  readonly unique?: boolean
  /** For engines with partial indexes: only rows that match this. */
  readonly where?: string
  /** One of the indexes that find jobs by state: see `Dialect.inState`. */
  readonly isOfStates?: boolean
}

export const indexes: readonly Index[] = [
  { name: 'lanes_key', table: 'lanes', columns: ['queue', 'job', 'priority', 'single', 'recurring', 'grouped'], unique: true },
  { name: 'lanes_job', table: 'lanes', columns: ['job', 'queue'], since: 7 },
  { name: 'jobs_ready', table: 'jobs', columns: ['lane', 'grp', 'run_at', 'id'], where: 'state = 0', isOfStates: true },
  {
    name: 'jobs_crowd',
    table: 'jobs',
    columns: ['crowd', 'run_at', 'id'],
    // Written so that no planner prefers another index of ready jobs and then sorts them all.
    where: crowdIsReady,
    isOfStates: true,
    since: 7,
  },
  {
    name: 'jobs_listed',
    table: 'jobs',
    columns: ['lane', 'state', 'linked', 'id'],
    where: isListed,
    isOfStates: true,
    since: 10,
  },
  { name: 'jobs_group', table: 'jobs', columns: ['grp', 'lane', 'id'], where: isGrouped, since: 10 },
  { name: 'jobs_scheduled', table: 'jobs', columns: ['run_at', 'id'], where: 'state = 1', isOfStates: true },
  { name: 'jobs_running', table: 'jobs', columns: ['lease_until'], where: 'state = 3', isOfStates: true },
  { name: 'jobs_ended', table: 'jobs', columns: ['state', 'finished_at'], where: 'state >= 4', isOfStates: true },
  { name: 'jobs_cancelling', table: 'jobs', columns: ['owner'], where: 'cancel = 1', isOfStates: true },
  { name: 'jobs_recurring', table: 'jobs', columns: ['schedule', 'run_at'], where: 'schedule IS NOT NULL' },
  { name: 'jobs_unique', table: 'jobs', columns: ['held_key'], where: 'held_key IS NOT NULL', unique: true },
  { name: 'jobs_number', table: 'jobs', columns: ['number'], where: 'number IS NOT NULL', unique: true, since: 2 },
  { name: 'groups_turns', table: 'groups', columns: ['lane', 'held_until', 'turn'] },
  { name: 'groups_held', table: 'groups', columns: ['held_until'], where: 'held_until > 0' },
  { name: 'rates_expiry', table: 'rates', columns: ['expires_at'] },
  { name: 'unique_keys_until', table: 'unique_keys', columns: ['until'], where: 'until IS NOT NULL' },
  { name: 'links_root', table: 'links', columns: ['root'] },
  { name: 'links_waiting', table: 'links', columns: ['gives_up_at'], where: 'gives_up_at IS NOT NULL' },
  { name: 'edges_waiter', table: 'edges', columns: ['waiter', 'child_key'] },
  { name: 'edges_target', table: 'edges', columns: ['target', 'outcome'], where: 'outcome IS NULL' },
  { name: 'once_done', table: 'once', columns: ['done_until'], where: 'done_until IS NOT NULL' },
  { name: 'once_held', table: 'once', columns: ['done_until', 'claimed_at'], where: 'done_until IS NULL' },
  { name: 'locks_expiry', table: 'locks', columns: ['expires_at'] },
  { name: 'workers_expiry', table: 'workers', columns: ['expires_at'] },
  { name: 'schedules_revision', table: 'schedules', columns: ['revision'], since: 4 },
  { name: 'removed_schedules_revision', table: 'removed_schedules', columns: ['revision'], since: 4 },
  { name: 'occurrences_at', table: 'occurrences', columns: ['at'] },
  { name: 'occurrences_job', table: 'occurrences', columns: ['job_id'] },
  { name: 'tags_job', table: 'tags', columns: ['job_id'], since: 5 },
  { name: 'occurrences_unended', table: 'occurrences', columns: ['schedule', 'outcome', 'at'], where: 'outcome IS NULL' },
]
