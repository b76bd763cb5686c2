import type { LeaseRequest } from '../../client/api/lease-shapes.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'
import type { AdmittedLease } from '../jobs/claiming/admission.ts'
import { takeAdmitted } from '../jobs/claiming/taking.ts'
import type { JobService } from '../jobs/job-service.ts'
import { jobChoice } from './job-pattern.ts'
import type { HttpLimits } from './limits.ts'
import type { Exchange } from './route.ts'
import { HttpProblem, invalidRequest } from './wire/http-problem.ts'

const defaultLeaseMs = 30_000
const shortestLeaseMs = 1_000
const longestLeaseMs = 12 * 3_600_000

type Wanted = Omit<LeaseRequest, 'queues'> & { readonly queues?: readonly string[] | null }

/** Requests that wait for work. */
export class Waiting {
  readonly #service: JobService
  readonly #limits: HttpLimits
  #count = 0

  constructor(service: JobService, limits: HttpLimits) {
    this.#service = service
    this.#limits = limits
  }

  get count(): number {
    return this.#count
  }

  /** Empty if there was no work in all that time, or the signal was aborted. */
  async take(request: LeaseRequest, { grant, signal }: Pick<Exchange, 'grant' | 'signal'>): Promise<readonly AdmittedLease[]> {
    const { jobs, queues = null, limit = 1, wait = 0, owner = 'http' }: Wanted = request
    const { maxWaiting, longestWaitMs } = this.#limits
    const { clock } = this.#service.queue.settings
    if (this.#count >= maxWaiting) {
      throw new HttpProblem('too-many-waiting', `At most ${maxWaiting} may wait at once`, { headers: { 'retry-after': '1' } })
    }
    const leaseMs = leaseMsOf(request.lease)
    const until = clock.now() + within('/wait', wait, 0, longestWaitMs)
    const choice = grant.narrowed({ ...jobChoice(jobs), queues })
    const demand = { ...choice, priority: null, limit, leaseMs, owner, signals: [signal()] }
    this.#count++
    try {
      return await takeAdmitted(demand, until, this.#service)
    } finally {
      this.#count--
    }
  }
}

export function leaseMsOf(lease: Duration | undefined): number {
  return within('/lease', lease ?? defaultLeaseMs, shortestLeaseMs, longestLeaseMs)
}

function within(pointer: string, given: Duration, leastMs: number, mostMs: number): number {
  const ms = parseDuration(given, pointer)
  if (ms >= leastMs && ms <= mostMs) return ms
  throw invalidRequest([{ pointer, detail: `must be from ${leastMs} ms to ${mostMs} ms, got ${ms}` }])
}
