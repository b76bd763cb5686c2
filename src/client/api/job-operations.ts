import {
  cancellation,
  created,
  createdMany,
  job,
  jobChange,
  jobFilter,
  jobId,
  jobPage,
  newJob,
  newJobs,
  why,
} from './job-shapes.ts'
import type { Operation } from './operation.ts'
import { text } from './shape.ts'

const parameters = { id: jobId }
const tag = 'jobs'

const idempotencyKey = text({
  description:
    'A text of your choice. For a day, a repeat of the request with the same key makes nothing and gives the jobs of the first one; with another body it is refused. A key counts for the name of its job, and goes without `unique`.',
  minLength: 1,
  maxLength: 255,
})

export const jobOperations = {
  createJob: {
    method: 'POST',
    path: '/jobs',
    tag,
    summary: 'Make a job',
    description: 'The job is on disk when the answer comes. No definition is needed: any worker that knows the name may do it.',
    headers: { 'Idempotency-Key': idempotencyKey },
    body: newJob,
    answers: {
      201: { description: 'The job was made.', body: created },
      200: { description: 'It was there already.', body: created },
    },
    problems: ['invalid-request', 'idempotency-key-reused'],
  },
  createJobs: {
    method: 'POST',
    path: '/jobs/bulk',
    tag,
    summary: 'Make many jobs',
    description: 'All of them, or none where one is refused.',
    headers: { 'Idempotency-Key': idempotencyKey },
    body: newJobs,
    answers: {
      201: { description: 'At least one of them was made.', body: createdMany },
      200: { description: 'All of them were there already.', body: createdMany },
    },
    problems: ['invalid-request', 'idempotency-key-reused'],
  },
  listJobs: {
    method: 'GET',
    path: '/jobs',
    tag,
    summary: 'List jobs, the newest first',
    description: 'Without payloads and results. The address of the next page is in `next`, and in the header `Link`.',
    query: jobFilter,
    answers: { 200: { description: 'A page of jobs.', body: jobPage } },
    problems: ['invalid-request', 'job-not-found'],
  },
  getJob: {
    method: 'GET',
    path: '/jobs/{id}',
    tag,
    summary: 'Look at a job',
    parameters,
    answers: { 200: { description: 'The job.', body: job } },
    problems: ['job-not-found'],
  },
  changeJob: {
    method: 'PATCH',
    path: '/jobs/{id}',
    tag,
    summary: 'Change a job that waits',
    parameters,
    body: jobChange,
    answers: { 200: { description: 'The job as it is now.', body: job } },
    problems: ['invalid-request', 'job-not-found', 'job-not-waiting'],
  },
  deleteJob: {
    method: 'DELETE',
    path: '/jobs/{id}',
    tag,
    summary: 'Delete a job that waits or has ended',
    description: 'One that waits is cancelled first, so that whoever waits for it goes on.',
    parameters,
    answers: { 204: { description: 'It is gone.' } },
    problems: ['job-not-found', 'job-not-waiting'],
  },
  cancelJob: {
    method: 'POST',
    path: '/jobs/{id}/cancel',
    tag,
    summary: 'Cancel a job',
    description: 'One that waits ends at once. The worker of one that runs is asked to stop.',
    parameters,
    answers: { 200: { description: 'What became of it.', body: cancellation } },
    problems: ['job-not-found', 'job-ended'],
  },
  retryJob: {
    method: 'POST',
    path: '/jobs/{id}/retry',
    tag,
    summary: 'Put an ended job back into the queue',
    description: 'With all its attempts. The history of its errors stays.',
    parameters,
    answers: { 200: { description: 'The job as it is now.', body: job } },
    problems: ['job-not-found', 'job-not-ended', 'unique-key-taken'],
  },
  explainJob: {
    method: 'GET',
    path: '/jobs/{id}/why',
    tag,
    summary: 'Ask why a job does not run',
    parameters,
    answers: { 200: { description: 'All reasons at once.', body: why } },
    problems: ['job-not-found'],
  },
} as const satisfies Record<string, Operation>
