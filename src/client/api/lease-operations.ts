import { jobId } from './job-shapes.ts'
import {
  extended,
  extension,
  leaseRequest,
  leases,
  progressReport,
  settled,
  settledMany,
  settlement,
  settlements,
} from './lease-shapes.ts'
import type { Operation } from './operation.ts'

const tag = 'workers'
const parameters = { id: jobId }

export const leaseOperations = {
  lease: {
    method: 'POST',
    path: '/leases',
    role: 'work',
    tag,
    summary: 'Claim jobs',
    description:
      'With `wait`, the request waits for work. A claim counts as an attempt. A client that disconnects while it waits loses nothing: jobs that could not be delivered return to the queue at once.',
    body: leaseRequest,
    answers: {
      200: { description: 'At least one job.', body: leases },
      204: { description: 'There was no work in that time.' },
    },
    problems: ['invalid-request', 'too-many-waiting'],
  },
  settle: {
    method: 'POST',
    path: '/jobs/{id}/settle',
    role: 'work',
    tag,
    summary: 'Report how an attempt ended',
    parameters,
    body: settlement,
    answers: { 200: { description: 'What happened to the job.', body: settled } },
    problems: ['invalid-request', 'lease-lost'],
  },
  settleMany: {
    method: 'POST',
    path: '/leases/settle',
    role: 'work',
    tag,
    summary: 'Report how several attempts ended',
    description: 'A lost lease does not prevent the others from being settled.',
    body: settlements,
    answers: { 200: { description: 'What happened to each job.', body: settledMany } },
    problems: ['invalid-request'],
  },
  extend: {
    method: 'POST',
    path: '/leases/extend',
    role: 'work',
    tag,
    summary: 'Extend leases',
    description: 'Workers do this about three times per lease. The response also says which jobs were asked to stop.',
    body: extension,
    answers: { 200: { description: 'The state of each lease.', body: extended } },
    problems: ['invalid-request'],
  },
  reportProgress: {
    method: 'POST',
    path: '/jobs/{id}/progress',
    role: 'work',
    tag,
    summary: 'Report the progress of a job',
    parameters,
    body: progressReport,
    answers: { 204: { description: 'The progress is stored if the lease is still held.' } },
    problems: ['invalid-request'],
  },
} as const satisfies Record<string, Operation>
