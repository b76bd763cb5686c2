import { type BrokerMessage, fittingText } from '../broker/message.ts'
import { bury, deleteJob, isPutRefused, put, release, reserveJob, touch } from './connection/commands.ts'
import type { Session } from './connection/session.ts'
import type { TubeDirectory } from './tubes/tube-directory.ts'
import type { TubeNames } from './tubes/tube-names.ts'

/** A job that is reserved by the session. */
export interface Original {
  readonly session: Session
  readonly serverId: string
}

export interface CopySettings {
  readonly message: BrokerMessage
  /** In seconds. */
  readonly delay: number
  readonly ttr: number
  /** Called as soon as the copy is stored, before the original is deleted. */
  readonly onStored?: (copyId: string) => void
}

/**
 * How long to delay a copy that is about to be reserved, so that no one else gets it; many times longer than the reservation
 * takes.
 */
const hiddenSeconds = 60

/** The server's scale is reversed: 0 is the most urgent. */
const middlePri = 65_536
const lastPri = 2 ** 32 - 1

export function priOf({ envelope: { priority } }: BrokerMessage): number {
  return Math.min(Math.max(middlePri - priority, 0), lastPri)
}

/** Whole seconds, rounded up: a job is never early, and less than a second late. */
export function secondsOf(delayMs: number): number {
  return Math.min(Math.max(Math.ceil(delayMs / 1_000), 0), lastPri)
}

/**
 * A job's body cannot be changed, so a changed job is a copy that is put first, after which the original is deleted. The job is
 * never missing; a crash in between leaves it twice. An original that is no longer held is left alone. While the server takes no
 * more jobs, an original that ends goes back or is buried as it was, because nothing could be written into it.
 */
export class Copies {
  readonly #names: TubeNames
  readonly #tubes: Pick<TubeDirectory, 'note'>
  readonly #maxJobSize: () => number

  constructor(names: TubeNames, tubes: Pick<TubeDirectory, 'note'>, maxJobSize: () => number) {
    this.#names = names
    this.#tubes = tubes
    this.#maxJobSize = maxJobSize
  }

  /** Returns the job to the queue with this message. False if it was lost. */
  async putBack(original: Original, copy: CopySettings): Promise<boolean> {
    if (!(await touch(original.session, original.serverId))) return false
    const copyId = await this.#putIfTaken(original.session, copy)
    if (copyId === null) return release(original.session, original.serverId, priOf(copy.message), copy.delay)
    return this.#finish(original, copyId)
  }

  /** Buries the job as a dead letter with this message. False if it was lost. */
  async bury(original: Original, copy: Omit<CopySettings, 'delay'>): Promise<boolean> {
    const { session } = original
    if (!(await touch(session, original.serverId))) return false
    const copyId = await this.#putIfTaken(session, { ...copy, delay: hiddenSeconds })
    if (copyId === null) return bury(session, original.serverId, priOf(copy.message))
    // If this fails, the message itself says that it is dead, and the next claim that finds it buries it.
    if (await reserveJob(session, copyId)) await bury(session, copyId, priOf(copy.message))
    return this.#finish(original, copyId)
  }

  /** Changes a job that stays reserved. Returns the server's new id for it, or null if it was lost. Throws if it cannot be changed. */
  async keep(original: Original, copy: Omit<CopySettings, 'delay'>): Promise<string | null> {
    const { session } = original
    if (!(await touch(session, original.serverId))) return null
    const copyId = await this.#put(session, { ...copy, delay: hiddenSeconds })
    const isReserved = await reserveJob(session, copyId)
    return (await this.#finish(original, copyId)) && isReserved ? copyId : null
  }

  /** Null while the server takes no more jobs. */
  async #putIfTaken(session: Session, copy: CopySettings): Promise<string | null> {
    try {
      return await this.#put(session, copy)
    } catch (thrown) {
      if (isPutRefused(thrown)) return null
      throw thrown
    }
  }

  async #put(session: Session, { message, delay, ttr, onStored }: CopySettings): Promise<string> {
    const text = fittingText(message, this.#maxJobSize())
    const tube = this.#names.tubeOf(message.envelope.queue)
    // Both are queued in the same turn, so that no other command comes between them.
    const using = session.use(tube)
    const [copyId] = await Promise.all([put(session, { pri: priOf(message), delay, ttr }, text), using])
    this.#tubes.note(tube)
    onStored?.(copyId)
    return copyId
  }

  async #finish({ session, serverId }: Original, copyId: string): Promise<boolean> {
    if (await deleteJob(session, serverId)) return true
    // Another owner has the original by now.
    await deleteJob(session, copyId)
    return false
  }
}
