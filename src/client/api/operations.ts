import { deadFilter, purged, purgeRequest, replayed, replayRequest } from './dead-shapes.ts'
import { eventQuery, lastEventId, serverEvent } from './event-shapes.ts'
import { jobOperations } from './job-operations.ts'
import { created, job, jobId, jobName, jobPage, queueName } from './job-shapes.ts'
import { leaseOperations } from './lease-operations.ts'
import type { Operation } from './operation.ts'
import { jobStatus, queueStatus, queues, stats, workers } from './queue-shapes.ts'
import {
  newSchedule,
  nextRuns,
  nextRunsQuery,
  schedule,
  scheduleFilter,
  scheduleName,
  scheduleStatus,
  schedules,
} from './schedule-shapes.ts'
import { anything, literal, object, record } from './shape.ts'

const queueOperations = {
  listQueues: {
    method: 'GET',
    path: '/queues',
    tag: 'queues',
    summary: 'List queues and their counts',
    answers: { 200: { description: 'All queues that have or had jobs, or are paused.', body: queues } },
    problems: [],
  },
  pauseQueue: {
    method: 'POST',
    path: '/queues/{queue}/pause',
    role: 'operate',
    tag: 'queues',
    summary: 'Pause a queue',
    description: 'Running jobs continue.',
    parameters: { queue: queueName },
    answers: { 200: { description: 'The queue is paused.', body: queueStatus } },
    problems: ['invalid-request'],
  },
  resumeQueue: {
    method: 'POST',
    path: '/queues/{queue}/resume',
    role: 'operate',
    tag: 'queues',
    summary: 'Resume a queue',
    parameters: { queue: queueName },
    answers: { 200: { description: 'The queue is not paused.', body: queueStatus } },
    problems: ['invalid-request'],
  },
  pauseJobs: {
    method: 'POST',
    path: '/job-names/{job}/pause',
    role: 'operate',
    tag: 'queues',
    summary: 'Pause the jobs with a key, in all queues',
    description: 'Running jobs continue.',
    parameters: { job: jobName },
    answers: { 200: { description: 'Jobs with this key are paused.', body: jobStatus } },
    problems: ['invalid-request'],
  },
  resumeJobs: {
    method: 'POST',
    path: '/job-names/{job}/resume',
    role: 'operate',
    tag: 'queues',
    summary: 'Resume the jobs with a key',
    parameters: { job: jobName },
    answers: { 200: { description: 'Jobs with this key are not paused.', body: jobStatus } },
    problems: ['invalid-request'],
  },
  stats: {
    method: 'GET',
    path: '/stats',
    tag: 'queues',
    summary: 'Get all counts',
    answers: { 200: { description: 'The counts, from maintained counters.', body: stats } },
    problems: [],
  },
  listWorkers: {
    method: 'GET',
    path: '/workers',
    tag: 'workers',
    summary: 'List live workers',
    description:
      'Workers that use the database directly. Remote workers appear only as the `owner` of the jobs that they have claimed.',
    answers: { 200: { description: 'In the order in which they started.', body: workers } },
    problems: [],
  },
} as const satisfies Record<string, Operation>

const named = { name: scheduleName }

const scheduleOperations = {
  listSchedules: {
    method: 'GET',
    path: '/schedules',
    tag: 'schedules',
    summary: 'List the schedules',
    query: scheduleFilter,
    answers: {
      200: { description: 'All schedules that schedulers have registered, and those created at run time.', body: schedules },
    },
    problems: ['invalid-request'],
  },
  getSchedule: {
    method: 'GET',
    path: '/schedules/{name}',
    tag: 'schedules',
    summary: 'Get a schedule',
    parameters: named,
    answers: { 200: { description: 'The schedule.', body: schedule } },
    problems: ['schedule-not-found'],
  },
  putSchedule: {
    method: 'PUT',
    path: '/schedules/{name}',
    role: 'operate',
    tag: 'schedules',
    summary: 'Create or replace a stored schedule',
    description:
      'Give one of `cron`, `every` and `repeat`. Omitted members get their defaults, not their previous values. Every scheduler that knows the job follows the schedule within a second. The name of a schedule in the code is refused.',
    parameters: named,
    body: newSchedule,
    answers: { 200: { description: 'The schedule after the change.', body: schedule } },
    problems: ['invalid-request'],
  },
  deleteSchedule: {
    method: 'DELETE',
    path: '/schedules/{name}',
    role: 'operate',
    tag: 'schedules',
    summary: 'Delete a stored schedule',
    description: 'Running jobs continue. A schedule in the code cannot be deleted here.',
    parameters: named,
    answers: { 204: { description: 'It was deleted.' } },
    problems: ['schedule-not-found'],
  },
  pauseSchedule: {
    method: 'POST',
    path: '/schedules/{name}/pause',
    role: 'operate',
    tag: 'schedules',
    summary: 'Pause a schedule',
    description: 'Running jobs continue.',
    parameters: named,
    answers: { 200: { description: 'The schedule is paused.', body: scheduleStatus } },
    problems: ['schedule-not-found'],
  },
  resumeSchedule: {
    method: 'POST',
    path: '/schedules/{name}/resume',
    role: 'operate',
    tag: 'schedules',
    summary: 'Resume a schedule',
    description: 'Runs that were due during the pause are not caught up.',
    parameters: named,
    answers: { 200: { description: 'The schedule is followed.', body: scheduleStatus } },
    problems: ['schedule-not-found'],
  },
  triggerSchedule: {
    method: 'POST',
    path: '/schedules/{name}/trigger',
    role: 'operate',
    tag: 'schedules',
    summary: 'Run the job of a schedule now',
    description: 'The schedule itself does not change. Its job must be defined in the server.',
    parameters: named,
    answers: { 201: { description: 'The job was created.', body: created } },
    problems: ['schedule-not-found'],
  },
  nextRuns: {
    method: 'GET',
    path: '/schedules/{name}/next',
    tag: 'schedules',
    summary: 'List the next runs of a schedule',
    description: 'Its job must be defined in the server.',
    parameters: named,
    query: nextRunsQuery,
    answers: { 200: { description: 'The next runs.', body: nextRuns } },
    problems: ['invalid-request', 'schedule-not-found'],
  },
} as const satisfies Record<string, Operation>

const deadOperations = {
  listDead: {
    method: 'GET',
    path: '/dead',
    tag: 'dead jobs',
    summary: 'List dead (failed) jobs, newest first',
    query: deadFilter,
    answers: { 200: { description: 'A page of jobs.', body: jobPage } },
    problems: ['invalid-request', 'job-not-found'],
  },
  replayDeadJob: {
    method: 'POST',
    path: '/dead/{id}/replay',
    role: 'operate',
    tag: 'dead jobs',
    summary: 'Put a dead job back into the queue',
    parameters: { id: jobId },
    answers: { 200: { description: 'The job after the change.', body: job } },
    problems: ['job-not-found', 'job-not-ended', 'unique-key-taken'],
  },
  replayDead: {
    method: 'POST',
    path: '/dead/replay',
    role: 'operate',
    tag: 'dead jobs',
    summary: 'Put several dead jobs back into the queue',
    body: replayRequest,
    answers: { 200: { description: 'The number of jobs.', body: replayed } },
    problems: ['invalid-request'],
  },
  purgeDead: {
    method: 'POST',
    path: '/dead/purge',
    role: 'operate',
    tag: 'dead jobs',
    summary: 'Permanently delete dead jobs',
    body: purgeRequest,
    answers: { 200: { description: 'The number of jobs.', body: purged } },
    problems: ['invalid-request'],
  },
} as const satisfies Record<string, Operation>

const eventOperations = {
  streamEvents: {
    method: 'GET',
    path: '/events',
    tag: 'events',
    summary: 'Follow the events of all processes',
    description:
      'Server-sent events, until the client disconnects or the server is stopped. A token sees the events of the jobs within its limits; events of workers and schedules need a token without limits. A reader that is too slow loses the oldest events and gets an event `dropped` with their `count`.',
    query: eventQuery,
    headers: { 'Last-Event-ID': lastEventId },
    answers: { 200: { description: 'The events, as they happen.', stream: serverEvent } },
    problems: ['invalid-request', 'too-many-waiting'],
  },
} as const satisfies Record<string, Operation>

const serverOperations = {
  health: {
    method: 'GET',
    path: '/health',
    tag: 'server',
    summary: 'Check whether the server is alive',
    answers: { 200: { description: 'The server is alive.', body: object({ status: literal('alive') }) } },
    problems: [],
    open: true,
  },
  ready: {
    method: 'GET',
    path: '/ready',
    tag: 'server',
    summary: 'Check whether the database responds',
    answers: { 200: { description: 'The database responds.', body: object({ status: literal('ready') }) } },
    problems: [],
    open: true,
  },
  openApi: {
    method: 'GET',
    path: '/openapi.json',
    tag: 'server',
    summary: 'Get this description',
    answers: { 200: { description: 'This document.', body: record(anything()) } },
    problems: [],
  },
} as const satisfies Record<string, Operation>

/** All operations of the API. */
export const operations = {
  ...jobOperations,
  ...leaseOperations,
  ...queueOperations,
  ...scheduleOperations,
  ...deadOperations,
  ...eventOperations,
  ...serverOperations,
}

export type Operations = typeof operations
export type OperationName = keyof Operations
