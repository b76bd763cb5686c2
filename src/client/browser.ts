// `treadle/client` for browsers: the client of the HTTP API only, because the TCP protocol needs sockets.
export type { DeadFilter, Purged, PurgeRequest, Replayed, ReplayRequest } from './api/dead-shapes.ts'
export type { ServerEvent } from './api/event-shapes.ts'
export type { Created, Job, JobChange, JobFilter, JobLog, JobPage, JobState, JobSummary, NewJob, Why } from './api/job-shapes.ts'
export type {
  Extended,
  Extension,
  Lease,
  LeaseRequest,
  Settled,
  SettledMany,
  Settlement,
  Settlements,
} from './api/lease-shapes.ts'
export type { Problem, ProblemKind } from './api/problem.ts'
export type { Queues, Stats, Workers } from './api/queue-shapes.ts'
export type { NewSchedule, NextRuns, Schedule } from './api/schedule-shapes.ts'
export type { CallOptions, ClientOptions } from './http/calling.ts'
export type { FollowOptions } from './http/event-calls.ts'
export { TreadleClient, treadleClient } from './http/http-client.ts'
export type { CreateOptions } from './http/job-calls.ts'
export { ServerProblem } from './http/server-problem.ts'
export type { RemoteHandlers, RemoteWorkOptions } from './remote-options.ts'
export type { RemoteContext, RemoteHandler } from './remote-run.ts'
export { RemoteWorker } from './remote-worker.ts'
