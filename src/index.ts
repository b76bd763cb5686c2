export type { Alert, AlertOptions, AlertRule, WebhookOptions } from './app/alerts/alert-options.ts'
export { defineConfig, type TreadleConfig } from './app/config/config.ts'
export type { JobDefaults } from './app/config/defaults.ts'
export type { LogOptions } from './app/config/log-options.ts'
export type { OpenTelemetryOptions } from './app/config/options.ts'
export { configure, jobs } from './app/default-instance.ts'
export type { JoinOptions } from './app/dispatching/dispatches.ts'
export { IncompleteDispatchError } from './app/dispatching/incomplete-dispatch.ts'
export type { JobLog, LogsOptions } from './app/handles/job-log.ts'
export type { Why, WhyReason, WhyRule } from './app/handles/why.ts'
export type { EventFilter } from './app/observing/events/event-filter.ts'
export type { EventsOptions } from './app/observing/events/event-options.ts'
export type { EventStream } from './app/observing/events/event-stream.ts'
export type { DroppedEvents, EventOrigin, QueueEvent, ToldError } from './app/observing/events/queue-event.ts'
export type { Metrics, MetricsOptions } from './app/observing/metrics.ts'
export type { ScheduleListOptions, Schedules } from './app/schedules/schedules.ts'
export type {
  ListedSchedule,
  StoredSchedule,
  StoredScheduleOptions,
  StoredScheduleState,
} from './app/schedules/stored-schedule.ts'
export { type BackendOptions, type ListenOptions, Treadle, type TreadleOptions, treadle } from './app/treadle.ts'
export type { PassHandlerOptions } from './app/workers/pass-handler.ts'
export type { QueueOptions } from './app/workers/queue-limits.ts'
export type { PruneOptions } from './app/workers/retention.ts'
export type { SuperviseOptions } from './app/workers/supervising.ts'
export type { DaemonReport, StopOptions } from './app/workers/working.ts'
export type { NodeOptions, Workflow, WorkflowNode } from './app/workflows/workflow.ts'
export type { WorkflowRun } from './app/workflows/workflow-run.ts'
export type { BatchCallbacks, BatchOptions, FileWorkflows, JoinedWorkflows } from './app/workflows/workflows.ts'
export { type ErrorCode, errorCodes, PermanentError, TreadleError } from './core/errors.ts'
export type { LogFields, Logger, LogLevel } from './core/logger.ts'
export type { ByteSize } from './core/text/byte-size.ts'
export type { Json } from './core/text/json.ts'
export { type Clock, systemClock, type Timer } from './core/time/clock.ts'
export type { Duration } from './core/time/duration.ts'
export type { Instant } from './core/time/instant.ts'
export type { JobBuilder } from './definition/builder.ts'
export type { JobContext } from './definition/context.ts'
export {
  type DefinitionFields,
  type FilterContext,
  type GivenFields,
  type InferredFields,
  JobDefinition,
  type Keep,
} from './definition/definition.ts'
export type { DispatchOptions } from './definition/dispatching/dispatch.ts'
export type { Dependencies, DependencyFailure } from './definition/dispatching/dispatch-options.ts'
export type { Draft, FileDraft, PayloadDraft, TimeDraft } from './definition/dispatching/draft.ts'
export type { TreeProgress, WaitOptions } from './definition/dispatching/progress.ts'
export type { Run } from './definition/dispatching/run.ts'
export type {
  ChildClass,
  ChildFailure,
  ChildOptions,
  ChildOutcome,
  DefinedJob,
  LinkOutcome,
  ResultsOf,
  Step,
} from './definition/dispatching/workflow.ts'
export type { Handler, HandlerClass, HandlerFunction } from './definition/handler.ts'
export type { JobLogger, LogMethod } from './definition/job-logger.ts'
export type {
  DispatchChanges,
  DispatchMiddleware,
  DispatchRequest,
  Middleware,
  Next,
  RunMiddleware,
} from './definition/middleware.ts'
export type { DeliveryMode } from './definition/policies/delivery.ts'
export type { Dependency, DependencyOptions, JobReference, OnFailure } from './definition/policies/dependency.ts'
export type { Grouping, GroupOptions } from './definition/policies/grouping.ts'
export type { IsolateKind, IsolateOptions, Isolation } from './definition/policies/isolation.ts'
export type { Overlap } from './definition/policies/overlap.ts'
export { type Priority, priorityLevels } from './definition/policies/priority.ts'
export type { RateLimit, RateOptions } from './definition/policies/rate.ts'
export {
  type Backoff,
  type BackoffFunction,
  type RetryOptions,
  type RetryPolicy,
  retryPresets,
} from './definition/policies/retry.ts'
export type {
  DebounceOptions,
  Key,
  OnConflict,
  ThrottleOptions,
  UniqueDispatchOptions,
  Uniqueness,
  UniqueOptions,
} from './definition/policies/uniqueness.ts'
export type { Schema } from './definition/schema.ts'
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
export type { AsyncSqlTransaction, SqlTransaction, SqlValue, WorkTransaction } from './definition/transactions/sql-transaction.ts'
export type { KeepOptions } from './definition/words/description-words.ts'
export type { Envelope } from './envelope/envelope.ts'
export type { SigningKey } from './envelope/keys/key-ring.ts'
export type { LineLevel, LogLine } from './envelope/log-lines.ts'
export { fromWire, toWire, type WireEnvelope } from './envelope/wire.ts'
export type { EventDetail, EventDetails, EventTimings } from './execution/event-details.ts'
export type { JobEventName, LoadMeasure, RunEvent, TreadleEvents } from './execution/events.ts'
export { closure, command, event, shell, url } from './handlers/index.ts'
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
} from './queue/contract/contract.ts'
export type { JobState } from './queue/contract/job-state.ts'
export type { TreeCounts } from './queue/contract/queue-counts.ts'
export type { OccurrenceRecord, ScheduleRecord } from './queue/contract/schedule-store.ts'
export type {
  Cancellation,
  HeldLease,
  JobCount,
  JobFilter,
  JobLink,
  JobRecord,
  JobStore,
  Pausable,
} from './queue/contract/store.ts'
export type { BreakerState, WorkerPresence, WorkerRecord, WorkerStore } from './queue/contract/stores/worker-store.ts'
export type { SchemaUpkeep, Upkeep } from './queue/contract/upkeep.ts'
export type { Finding, Verdict } from './queue/upkeep/diagnosis.ts'
export type { SchemaState } from './queue/upkeep/migration.ts'
export type { CalendarFields, TimeWindow } from './scheduling/calendar/calendar-fields.ts'
export { parseRepeat } from './scheduling/repeating/repeat.ts'
export type { DayOfWeek, Month } from './scheduling/saying/calendar-values.ts'
export type { ScheduleExpression } from './scheduling/saying/expression.ts'
export type { CalendarObject, CalendarPattern } from './scheduling/saying/object-schedule.ts'
export type { ScheduleWords } from './scheduling/saying/schedule-words.ts'
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
export type { BreakerOptions } from './worker/health/breaker/breaker-config.ts'
export type { LoadOptions } from './worker/health/load/load-config.ts'
export type { WorkerState } from './worker/health/worker-state.ts'
export type { DaemonOptions, RunOptions, WorkOptions } from './worker/options.ts'
export type { RunReport } from './worker/runs/report.ts'
export type { DryOccurrence, DryRun } from './worker/scheduler/dry-run.ts'
export type { TickSummary } from './worker/scheduler/tick-statistics.ts'
export type { SupervisorOptions } from './worker/supervisor/config.ts'
export type { SupervisorEvents, Tell } from './worker/supervisor/events.ts'
export type { ChildHandle, ChildListener, ChildMessage, ChildOrder, StartChild } from './worker/supervisor/messages.ts'
export type { Supervisor, SupervisorReport } from './worker/supervisor/supervisor.ts'
