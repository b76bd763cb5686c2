import type { Lease, LeaseBatch } from '../../queue/contract/contract.ts'
import type { HeldLease, JobLink, JobRecord } from '../../queue/contract/store.ts'
import { numberOfId, type Stage } from './stage.ts'

/** Answers in the terms of the program, without the tokens and numbers that each backend chooses for itself. */

export interface LeaseAnswer {
  readonly leases: readonly object[]
  readonly cancelled: readonly string[]
  readonly nextAt: number | null
  readonly now: number
}

export function leaseAnswer(stage: Stage, { leases, cancelled, nextAt }: LeaseBatch): LeaseAnswer {
  return {
    leases: leases.map((lease) => givenLease(stage, lease)),
    cancelled: cancelled.map((token) => stage.nameOfToken(token)).sort(),
    nextAt,
    now: stage.clock.now(),
  }
}

/** Drops the links, which a backend may omit from a lease. `linked` may be true even if no job waits. */
function givenLease(stage: Stage, { token, envelope, attempt, rescues = 0, expiresAt, linked = false }: Lease): object {
  const { links: _, number, ...rest } = envelope
  return {
    token: stage.nameOfToken(token),
    envelope: { ...rest, number: stage.nameOfNumber(number) },
    attempt,
    rescues,
    expiresAt,
    linked,
  }
}

export function heldLease(stage: Stage, { token, ...lease }: HeldLease): object {
  return { token: stage.nameOfToken(token), ...lease }
}

export function jobRecord(stage: Stage, { number, ...record }: JobRecord): object {
  return { ...record, number: stage.nameOfNumber(number) }
}

export function jobLink(link: JobLink): object {
  return { ...link, id: numberOfId(link.id) }
}
