import { TreadleError } from '../../../core/errors.ts'
import { randomToken } from '../../../core/id.ts'
import { pause, systemClock } from '../../../core/time/clock.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { script } from '../connections/script.ts'
import type { RedisServer } from '../connections/server.ts'
import { commitScript } from '../scripts/commit.ts'
import { LoadedQueue } from './loaded-queue.ts'
import { Missing } from './needs.ts'
import type { Op } from './places.ts'
import { expectation, Rows } from './rows.ts'
import { writesOf } from './writes.ts'

const commit = script(commitScript)

/** After so many refusals a unit is done alone, and after so many more it is given up. */
const optimisticTries = 3
const mostTries = 40
/** A program that died with the mutex loses it after this time. */
const mutexMs = 10_000
const mutexPauseMs = 3
/** Far more often than any rule asks: one that never has enough is broken. */
const mostLoads = 10_000

/** What a rule gives beside its answer: steps of the commit that it has worked out by itself. */
export interface Decided<Answer> {
  readonly answer: Answer
  readonly ops?: readonly Op[]
}

export type Rule<Answer> = (queue: LoadedQueue) => Decided<Answer>

/**
 * Runs rules on what is stored: a rule runs on what is loaded, again from its start whenever it asks for more, and what it has
 * changed is written by one script that refuses where something it has read is no longer so. Then all of it is done anew.
 */
export class Units {
  readonly #server: RedisServer
  readonly #time: QueueTime
  readonly #onWake: () => void

  /** `onWake` is called when work may have become ready. */
  constructor(server: RedisServer, time: QueueTime, onWake: () => void) {
    this.#server = server
    this.#time = time
    this.#onWake = onWake
  }

  /** A rule that is to begin with what is there now is made anew for each try. */
  run<Answer>(rule: Rule<Answer>): Promise<Answer> {
    return this.runPrepared(async () => rule, randomToken())
  }

  async runPrepared<Answer>(prepare: () => Promise<Rule<Answer>>, claim: string): Promise<Answer> {
    for (let tries = 1; tries <= mostTries; tries++) {
      const mutex = tries > optimisticTries ? await this.#lock() : ''
      try {
        const tried = await this.#try(await prepare(), claim, mutex)
        if (tried !== null) return tried.answer
      } finally {
        if (mutex !== '') await this.#unlock(mutex).catch(() => {})
      }
    }
    throw new TreadleError('DATABASE_BUSY', `What others write to the queue has kept a call from its end ${mostTries} times`)
  }

  /** Null where somebody else has changed what was read. */
  async #try<Answer>(rule: Rule<Answer>, claim: string, mutex: string): Promise<{ readonly answer: Answer } | null> {
    const rows = new Rows(this.#server)
    const tails = new Map<string, number>()
    const stamp = randomToken().slice(0, 8)
    for (let loads = 0; loads < mostLoads; loads++) {
      rows.begin()
      const queue = new LoadedQueue(rows, { now: this.#time.now(), claim }, tails)
      try {
        const { answer, ops = [] } = rule(queue)
        const writes = [...ops, ...writesOf(queue, stamp)]
        if (writes.length === 0) return { answer }
        return (await this.#commit(queue, writes, mutex)) ? { answer } : null
      } catch (thrown) {
        if (!(thrown instanceof Missing)) {
          // Rules meet what cannot be where somebody has changed one half of it meanwhile.
          if (thrown instanceof TreadleError || (await this.#isUnchanged(queue, mutex))) throw thrown
          return null
        }
        await rows.load(thrown.needs)
      }
    }
    throw new TreadleError('DATABASE_FAILED', 'A call asked for more and more of the queue, and came to no end')
  }

  async #commit(queue: LoadedQueue, writes: readonly Op[], mutex: string): Promise<boolean> {
    const args = [...checksOf(queue, mutex), '.', ...writes.flat()]
    const isDone = (await this.#server.run(commit, args)) === ''
    if (isDone && queue.wakes) this.#onWake()
    return isDone
  }

  async #isUnchanged(queue: LoadedQueue, mutex: string): Promise<boolean> {
    return (await this.#server.run(commit, [...checksOf(queue, mutex), '.'])) === ''
  }

  async #lock(): Promise<string> {
    const own = randomToken()
    while (true) {
      const held = await this.#server.command('SET', `${this.#server.prefix}mutex`, own, 'NX', 'PX', mutexMs)
      if (held !== null) return own
      await pause(systemClock, mutexPauseMs)
    }
  }

  async #unlock(own: string): Promise<void> {
    await this.#server.run(unlock, [own])
  }
}

const unlock = script(`
if redis.call('GET', KEYS[1] .. 'mutex') == ARGV[1] then redis.call('DEL', KEYS[1] .. 'mutex') end
return ''
`)

/** What a job carries, and what it has come to, change only together with its head. */
const withHead = ['b', 'x', 'gone', 'c']

function checksOf(queue: LoadedQueue, mutex: string): (string | number)[] {
  const checks: (string | number)[] = ['m', mutex]
  for (const [need, stored] of queue.rows.touched) {
    if (need.kind === 'range') {
      const members = (stored as readonly string[]).join('\0')
      checks.push('l', need.key, need.start, need.stop, members === '' ? '=' : expectation(members))
    } else if (need.kind === 'text') checks.push('t', need.key, expectation(stored as string | null))
    else if (need.table === 'h') {
      checks.push('f', 'h', need.field, stored === null ? '' : `^${stampOf(stored as string)}`)
    } else if (!withHead.includes(need.table)) checks.push('f', need.table, need.field, expectation(stored as string | null))
  }
  for (const [name, count] of queue.counted) checks.push('a', name, count)
  return checks
}

/** What a head begins with, up to the bar that ends it. */
function stampOf(head: string): string {
  return head.slice(0, head.indexOf('|') + 1)
}
