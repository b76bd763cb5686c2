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
    summary: 'Take jobs to work on',
    description:
      'Waits for work, if asked to. The attempt is counted. A client that goes away while it waits loses nothing: jobs that could not be handed over go back to the queue at once.',
    body: leaseRequest,
    answers: {
      200: { description: 'Jobs, at least one.', body: leases },
      204: { description: 'There was no work in all that time.' },
    },
    problems: ['invalid-request', 'too-many-waiting'],
  },
  settle: {
    method: 'POST',
    path: '/jobs/{id}/settle',
    role: 'work',
    tag,
    summary: 'Say how an attempt ended',
    parameters,
    body: settlement,
    answers: { 200: { description: 'What became of the job.', body: settled } },
    problems: ['invalid-request', 'lease-lost'],
  },
  settleMany: {
    method: 'POST',
    path: '/leases/settle',
    role: 'work',
    tag,
    summary: 'Say how many attempts ended',
    description: 'A lease that is lost does not keep the others from being settled.',
    body: settlements,
    answers: { 200: { description: 'What became of each.', body: settledMany } },
    problems: ['invalid-request'],
  },
  extend: {
    method: 'POST',
    path: '/leases/extend',
    role: 'work',
    tag,
    summary: 'Keep jobs that are being worked on',
    description: 'A worker does so about three times in each lease. The answer also tells which jobs were asked to stop.',
    body: extension,
    answers: { 200: { description: 'What became of each lease.', body: extended } },
    problems: ['invalid-request'],
  },
  reportProgress: {
    method: 'POST',
    path: '/jobs/{id}/progress',
    role: 'work',
    tag,
    summary: 'Say how far a job is',
    parameters,
    body: progressReport,
    answers: { 204: { description: 'It is written down, if the lease is still held.' } },
    problems: ['invalid-request'],
  },
} as const satisfies Record<string, Operation>
