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
    summary: 'List the queues and how many jobs they hold',
    answers: { 200: { description: 'All queues that hold or held jobs, or are paused.', body: queues } },
    problems: [],
  },
  pauseQueue: {
    method: 'POST',
    path: '/queues/{queue}/pause',
    role: 'operate',
    tag: 'queues',
    summary: 'Hand out no more jobs of a queue',
    description: 'What runs goes on.',
    parameters: { queue: queueName },
    answers: { 200: { description: 'The queue is paused.', body: queueStatus } },
    problems: ['invalid-request'],
  },
  resumeQueue: {
    method: 'POST',
    path: '/queues/{queue}/resume',
    role: 'operate',
    tag: 'queues',
    summary: 'Hand out the jobs of a queue again',
    parameters: { queue: queueName },
    answers: { 200: { description: 'The queue is not paused.', body: queueStatus } },
    problems: ['invalid-request'],
  },
  pauseJobs: {
    method: 'POST',
    path: '/job-names/{job}/pause',
    role: 'operate',
    tag: 'queues',
    summary: 'Hand out no more jobs with a key, from any queue',
    description: 'What runs goes on.',
    parameters: { job: jobName },
    answers: { 200: { description: 'Jobs with this key are paused.', body: jobStatus } },
    problems: ['invalid-request'],
  },
  resumeJobs: {
    method: 'POST',
    path: '/job-names/{job}/resume',
    role: 'operate',
    tag: 'queues',
    summary: 'Hand out the jobs with a key again',
    parameters: { job: jobName },
    answers: { 200: { description: 'Jobs with this key are not paused.', body: jobStatus } },
    problems: ['invalid-request'],
  },
  stats: {
    method: 'GET',
    path: '/stats',
    tag: 'queues',
    summary: 'Count everything',
    answers: { 200: { description: 'From kept counters.', body: stats } },
    problems: [],
  },
  listWorkers: {
    method: 'GET',
    path: '/workers',
    tag: 'workers',
    summary: 'List the workers that live',
    description: 'Workers on the database itself. Remote ones are seen by the `owner` of the jobs that they have.',
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
      200: { description: 'All that schedulers have registered, and those that were made at run time.', body: schedules },
    },
    problems: ['invalid-request'],
  },
  getSchedule: {
    method: 'GET',
    path: '/schedules/{name}',
    tag: 'schedules',
    summary: 'Look at a schedule',
    parameters: named,
    answers: { 200: { description: 'The schedule.', body: schedule } },
    problems: ['schedule-not-found'],
  },
  putSchedule: {
    method: 'PUT',
    path: '/schedules/{name}',
    role: 'operate',
    tag: 'schedules',
    summary: 'Make or change a stored schedule',
    description:
      'Give one of `cron`, `every` and `repeat`. What is not given is as usual, and not as it was. Every scheduler that knows the job follows it within a second. A name that a schedule of the code has is refused.',
    parameters: named,
    body: newSchedule,
    answers: { 200: { description: 'The schedule as it is now.', body: schedule } },
    problems: ['invalid-request'],
  },
  deleteSchedule: {
    method: 'DELETE',
    path: '/schedules/{name}',
    role: 'operate',
    tag: 'schedules',
    summary: 'Delete a stored schedule',
    description: 'What runs goes on. A schedule of the code cannot be deleted here.',
    parameters: named,
    answers: { 204: { description: 'It is gone.' } },
    problems: ['schedule-not-found'],
  },
  pauseSchedule: {
    method: 'POST',
    path: '/schedules/{name}/pause',
    role: 'operate',
    tag: 'schedules',
    summary: 'Stop a schedule',
    description: 'What runs goes on.',
    parameters: named,
    answers: { 200: { description: 'The schedule is paused.', body: scheduleStatus } },
    problems: ['schedule-not-found'],
  },
  resumeSchedule: {
    method: 'POST',
    path: '/schedules/{name}/resume',
    role: 'operate',
    tag: 'schedules',
    summary: 'Go on with a schedule',
    description: 'Runs that fell into the pause are not made up for.',
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
    description: 'The schedule itself goes on as it was. Its job must be defined in the server.',
    parameters: named,
    answers: { 201: { description: 'The job was made.', body: created } },
    problems: ['schedule-not-found'],
  },
  nextRuns: {
    method: 'GET',
    path: '/schedules/{name}/next',
    tag: 'schedules',
    summary: 'Ask when a schedule runs next',
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
    summary: 'List dead jobs, the newest first',
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
    answers: { 200: { description: 'The job as it is now.', body: job } },
    problems: ['job-not-found', 'job-not-ended', 'unique-key-taken'],
  },
  replayDead: {
    method: 'POST',
    path: '/dead/replay',
    role: 'operate',
    tag: 'dead jobs',
    summary: 'Put many dead jobs back into the queue',
    body: replayRequest,
    answers: { 200: { description: 'How many.', body: replayed } },
    problems: ['invalid-request'],
  },
  purgeDead: {
    method: 'POST',
    path: '/dead/purge',
    role: 'operate',
    tag: 'dead jobs',
    summary: 'Delete dead jobs for ever',
    body: purgeRequest,
    answers: { 200: { description: 'How many.', body: purged } },
    problems: ['invalid-request'],
  },
} as const satisfies Record<string, Operation>

const eventOperations = {
  streamEvents: {
    method: 'GET',
    path: '/events',
    tag: 'events',
    summary: 'Follow what happens, in all processes of the queue',
    description:
      'Server-sent events, until the client goes away or the server is stopped. A token sees the events of its own jobs; those of workers and schedules are for tokens without limits. A reader that is too slow loses the oldest events and gets an event `dropped`, with their `count`.',
    query: eventQuery,
    headers: { 'Last-Event-ID': lastEventId },
    answers: { 200: { description: 'The events as they come.', stream: serverEvent } },
    problems: ['invalid-request', 'too-many-waiting'],
  },
} as const satisfies Record<string, Operation>

const serverOperations = {
  health: {
    method: 'GET',
    path: '/health',
    tag: 'server',
    summary: 'Ask whether the server lives',
    answers: { 200: { description: 'It does.', body: object({ status: literal('alive') }) } },
    problems: [],
    open: true,
  },
  ready: {
    method: 'GET',
    path: '/ready',
    tag: 'server',
    summary: 'Ask whether the server can work',
    answers: { 200: { description: 'The backend answers.', body: object({ status: literal('ready') }) } },
    problems: [],
    open: true,
  },
  openApi: {
    method: 'GET',
    path: '/openapi.json',
    tag: 'server',
    summary: 'Describe this API',
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
