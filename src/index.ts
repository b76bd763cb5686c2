export { defineConfig, type TreadleConfig } from './app/config.ts'
export { configure, jobs } from './app/default-instance.ts'
export type { JoinOptions } from './app/dispatches.ts'
export { IncompleteDispatchError } from './app/incomplete-dispatch.ts'
export type { QueueOptions } from './app/queue-limits.ts'
export type { Schedules } from './app/schedules.ts'
export type { SuperviseOptions } from './app/supervising.ts'
export { type BackendOptions, Treadle, type TreadleOptions, treadle } from './app/treadle.ts'
export type { Why, WhyReason, WhyRule } from './app/why.ts'
export type { NodeOptions, Workflow, WorkflowNode } from './app/workflow.ts'
export type { WorkflowRun } from './app/workflow-run.ts'
export type { BatchCallbacks, BatchOptions, FileWorkflows, JoinedWorkflows } from './app/workflows.ts'
export type { DaemonReport, StopOptions } from './app/working.ts'
export type {
  AttemptError,
  ClaimableJob,
  ClaimRules,
  DeadReason,
  GroupLimits,
  Hold,
  HoldRule,
  QueueBackend,
  QueueLimits,
  Rate,
} from './backends/contract.ts'
export type { Finding, Verdict } from './backends/diagnosing.ts'
export type { JobState } from './backends/job-state.ts'
export type { SchemaState } from './backends/migrations.ts'
export type { BreakerState, WorkerPresence, WorkerRecord, WorkerStore } from './backends/presence.ts'
export type { OccurrenceRecord, ScheduleRecord } from './backends/schedule-store.ts'
export type {
  HeldLease,
  JobCount,
  JobFilter,
  JobLink,
  JobRecord,
  JobStore,
  TreeCancellation,
  TreeCounts,
} from './backends/store.ts'
export type { SchemaUpkeep, Upkeep } from './backends/upkeep.ts'
export type { ByteSize } from './core/byte-size.ts'
export { type Clock, systemClock, type Timer } from './core/clock.ts'
export type { Duration } from './core/duration.ts'
export { type ErrorCode, errorCodes, PermanentError, TreadleError } from './core/errors.ts'
export type { Instant } from './core/instant.ts'
export type { Json } from './core/json.ts'
export type { Logger } from './core/logger.ts'
export { JobBuilder, type KeepOptions } from './definition/builder.ts'
export type { JobContext } from './definition/context.ts'
export { type DefinitionFields, type FilterContext, JobDefinition, type Keep } from './definition/definition.ts'
export type { DeliveryMode } from './definition/delivery.ts'
export type { Dependency, DependencyOptions, JobReference, OnFailure } from './definition/dependency.ts'
export type { DispatchOptions } from './definition/dispatch.ts'
export type { Dependencies, DependencyFailure } from './definition/dispatch-options.ts'
export type { Draft, FileDraft, PayloadDraft } from './definition/draft.ts'
export type { Grouping, GroupOptions } from './definition/grouping.ts'
export type { Handler, HandlerClass, HandlerFunction } from './definition/handler.ts'
export type { IsolateKind, IsolateOptions, Isolation } from './definition/isolation.ts'
export type { Overlap } from './definition/overlap.ts'
export { type Priority, priorityLevels } from './definition/priority.ts'
export type { TreeProgress, WaitOptions } from './definition/progress.ts'
export type { RateLimit, RateOptions } from './definition/rate.ts'
export { type RetryOptions, type RetryPolicy, retryPresets } from './definition/retry.ts'
export type { Run } from './definition/run.ts'
export type { Schema } from './definition/schema.ts'
export type { AsyncSqlTransaction, SqlTransaction, SqlValue, WorkTransaction } from './definition/sql-transaction.ts'
export type {
  AdaptedTransaction,
  CallerTransaction,
  KnexTransaction,
  KyselyTransaction,
  MysqlConnection,
  PostgresConnection,
  PrismaTransaction,
  SqliteConnection,
} from './definition/transactions/caller-transaction.ts'
export type {
  DebounceOptions,
  Key,
  OnConflict,
  ThrottleOptions,
  UniqueDispatchOptions,
  Uniqueness,
  UniqueOptions,
} from './definition/uniqueness.ts'
export type { ChildFailure, ChildOptions, ChildOutcome, LinkOutcome, ResultsOf, Step, Steppable } from './definition/workflow.ts'
export type { Envelope } from './envelope/envelope.ts'
export type { SigningKey } from './envelope/key-ring.ts'
export { fromWire, toWire, type WireEnvelope } from './envelope/wire.ts'
export type { LoadMeasure, RunEvent, TreadleEvents } from './execution/events.ts'
export { closure, command, event, shell, url } from './handlers/index.ts'
export type { CalendarFields, TimeWindow } from './scheduling/calendar/calendar-fields.ts'
export { parseRepeat } from './scheduling/repeating/repeat.ts'
export type { DayOfWeek, Month } from './scheduling/saying/calendar-values.ts'
export type { CalendarObject, CalendarPattern } from './scheduling/saying/object-schedule.ts'
export { registerSymbol, type ScheduleSymbol } from './scheduling/saying/symbols.ts'
export type {
  CalendarSchedule,
  EndedRun,
  ExplainedOccurrence,
  ExplainOptions,
  Explanation,
  RepeatBase,
  RepeatSchedule,
  Schedule,
} from './scheduling/schedule.ts'
export type { BreakerOptions } from './worker/breaker-config.ts'
export type { DryOccurrence, DryRun } from './worker/dry-run.ts'
export type { LoadOptions } from './worker/load-config.ts'
export type { DaemonOptions, RunOptions, WorkOptions } from './worker/options.ts'
export type { RunReport } from './worker/report.ts'
export type { SupervisorOptions } from './worker/supervisor/config.ts'
export type { SupervisorEvents, Tell } from './worker/supervisor/events.ts'
export type { ChildHandle, ChildListener, ChildMessage, ChildOrder, StartChild } from './worker/supervisor/messages.ts'
export type { Supervisor, SupervisorReport } from './worker/supervisor/supervisor.ts'
export type { TickSummary } from './worker/tick-statistics.ts'
export type { WorkerState } from './worker/worker-state.ts'
