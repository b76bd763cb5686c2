import { isUnreachable, messageOf, TreadleError } from '../../core/errors.ts'
import type { Clock } from '../../core/time/clock.ts'
import type { Envelope } from '../../envelope/envelope.ts'
import { coordinationMissing } from '../../queue/backend/missing-coordination.ts'
import type { SendReceipt } from '../../queue/contract/contract.ts'
import { distinctJobs } from '../broker/distinct-jobs.ts'
import { messageText, newMessage } from '../broker/message.ts'
import { put, tooBig } from './connection/commands.ts'
import type { Link } from './connection/link.ts'
import { priOf, secondsOf } from './copies.ts'
import type { EndedJobs } from './ended-jobs.ts'
import type { TubeDirectory } from './tubes/tube-directory.ts'
import type { TubeNames } from './tubes/tube-names.ts'

export interface SendingDeps {
  readonly link: Link
  readonly ended: EndedJobs
  readonly names: TubeNames
  readonly tubes: TubeDirectory
  /** In seconds. */
  readonly ttr: number
  readonly maxJobSize: () => number
  readonly clock: Clock
}

interface Parcel {
  readonly tube: string
  readonly pri: number
  readonly delay: number
  readonly text: string
}

export class Sending {
  readonly #deps: SendingDeps

  constructor(deps: SendingDeps) {
    this.#deps = deps
  }

  /** Calls `onDue` for each tube that received jobs which are due. */
  async send(envelopes: readonly Envelope[], onDue: (tube: string) => void): Promise<readonly SendReceipt[]> {
    const { jobs, receipts } = distinctJobs(envelopes)
    const parcels = jobs.map((envelope) => this.#parcel(envelope))
    for (const { id } of jobs) this.#deps.ended.forget(id)
    if (parcels.length > 0) await this.#put(parcels)
    for (const tube of new Set(parcels.filter(({ delay }) => delay === 0).map((each) => each.tube))) onDue(tube)
    return receipts
  }

  /** Rejects a job that is too large before anything is stored. */
  #parcel(envelope: Envelope): Parcel {
    if (envelope.links !== null) throw coordinationMissing('Beanstalkd cannot keep jobs that wait for others')
    const { names, clock, maxJobSize } = this.#deps
    const message = newMessage(envelope)
    const text = messageText(message)
    const bytes = Buffer.byteLength(text)
    if (bytes > maxJobSize()) throw tooBig(bytes, maxJobSize())
    const delay = secondsOf(envelope.runAt - clock.now())
    return { tube: names.tubeOf(envelope.queue), pri: priOf(message), delay, text }
  }

  async #put(parcels: readonly Parcel[]): Promise<void> {
    const { link, ttr, tubes } = this.#deps
    const session = await link.session()
    const put1 = async ({ tube, pri, delay, text }: Parcel) => {
      // Both are queued in the same turn, so that no other command comes between them.
      await Promise.all([session.use(tube), put(session, { pri, delay, ttr }, text)])
      tubes.note(tube)
    }
    const stored = await Promise.allSettled(parcels.map(put1))
    const failures = stored.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []))
    if (failures.length === 0) return
    throw incomplete(
      failures.find(isUnreachable) ?? failures[0],
      stored.filter(({ status }) => status === 'fulfilled').length,
      parcels.length,
    )
  }
}

/** Without an answer, a put may or may not have been applied: sending the job again may store it twice. */
function incomplete(reason: unknown, stored: number, all: number): unknown {
  const isUnanswered = isUnreachable(reason)
  if (!(reason instanceof TreadleError) || (all === 1 && !isUnanswered)) return reason
  const others = isUnanswered ? 'others may be, and would be stored twice if they are sent again' : 'the others are not'
  const message = `${messageOf(reason)}. ${stored} of ${all} jobs are ${isUnanswered ? 'known to be ' : ''}stored; ${others}`
  return new TreadleError(reason.code, message, { cause: reason })
}
