export type { DeadFilter, Purged, PurgeRequest, Replayed, ReplayRequest } from './api/dead-shapes.ts'
export type { Created, Job, JobChange, JobFilter, JobPage, JobState, JobSummary, NewJob, Why } from './api/job-shapes.ts'
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
export type { NextRuns, Schedule } from './api/schedule-shapes.ts'
export {
  type BedrockCallOptions,
  BedrockClient,
  type BedrockClientOptions,
  type BedrockGetOptions,
  bedrockClient,
} from './bedrock-client.ts'
export type {
  BedrockChild,
  BedrockJob,
  BedrockJobChanges,
  BedrockJobState,
  BedrockPriority,
  BedrockRequeue,
  BedrockRetry,
  BedrockState,
  NewBedrockJob,
} from './bedrock-job.ts'
export { BedrockRefusal } from './bedrock-refusal.ts'
export type { CallOptions, ClientOptions } from './calling.ts'
export { TreadleClient, treadleClient } from './http-client.ts'
export type { CreateOptions } from './job-calls.ts'
export type { RemoteHandlers, RemoteWorkOptions } from './remote-options.ts'
export type { RemoteContext, RemoteHandler } from './remote-run.ts'
export { RemoteWorker } from './remote-worker.ts'
export { ServerProblem } from './server-problem.ts'
