import { TreadleError } from '../../../core/errors.ts'
import { randomToken } from '../../../core/id.ts'
import { pause, systemClock } from '../../../core/time/clock.ts'
import { TailSizes } from '../../../queue/units/loaded-timeline.ts'
import { Missing } from '../../../queue/units/missing.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { noKey, script, scriptEvenWhenFull } from '../connections/script.ts'
import type { RedisServer } from '../connections/server.ts'
import { commitScript } from '../scripts/commit.ts'
import { LoadedQueue } from './loaded-queue.ts'
import { firstTail } from './loaded-timeline.ts'
import type { Need } from './needs.ts'
import type { Op } from './places.ts'
import { expectation, Rows } from './rows.ts'
import { storesJobs, writesOf } from './writes.ts'

const commit = script(commitScript)
/** See `scriptEvenWhenFull`. */
const evenWhenFull: Op = ['U', noKey]

/** After this many refusals, a unit runs alone under the mutex; after `mostTries`, it is given up. */
const optimisticTries = 3
const mostTries = 40
/** How long the mutex outlives a program that died holding it. */
const mutexMs = 10_000
const mutexPauseMs = 3
/** Far more loads than any rule needs: one that exceeds this is broken. */
const mostLoads = 10_000

/** A rule's answer, and steps of the commit that it has worked out itself. */
export interface Decided<Answer> {
  readonly answer: Answer
  readonly ops?: readonly Op[]
}

export type Rule<Answer> = (queue: LoadedQueue) => Decided<Answer>

/**
 * Runs rules on stored data. A rule runs on what is loaded, and again from its start whenever it needs more. Its changes are
 * written by one script, which refuses if anything the rule has read has changed. Then everything starts over.
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

  /** Use `runPrepared` for a rule that has to be rebuilt from current data for each attempt. */
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
    throw new TreadleError('DATABASE_BUSY', `Writes by other programs have interrupted a call ${mostTries} times`)
  }

  /**
   * Runs several rules on current data and loads what they need together. Writes nothing: each is committed separately
   * afterwards, or not at all.
   */
  async prepareEach<Answer>(rules: readonly Rule<Answer>[]): Promise<readonly Prepared<Answer>[]> {
    const unit = new Unit(this.#server, this.#time, randomToken())
    const prepared = new Map<Rule<Answer>, Prepared<Answer>>()
    for (let open = rules, loads = 0; open.length > 0; loads++) {
      if (loads > mostLoads) throw endless()
      const needs: Need[] = []
      open = open.filter((rule) => {
        const result = unit.attempt(rule)
        if (result instanceof Missing) needs.push(...result.needs)
        else prepared.set(rule, result)
        return result instanceof Missing
      })
      if (open.length > 0) await unit.rows.load(needs)
    }
    return rules.map((rule) => prepared.get(rule) as Prepared<Answer>)
  }

  /** Commits all at one instant, each only if what it has read is unchanged. */
  async commitEach(prepared: readonly Prepared<unknown>[]): Promise<readonly boolean[]> {
    const answers = await this.#commit(prepared, '')
    const isDone = answers.map((refused) => refused === '')
    if (prepared.some(({ wakes }, index) => wakes && isDone[index])) this.#onWake()
    return isDone
  }

  /** Null if something else has changed what was read. */
  async #try<Answer>(rule: Rule<Answer>, claim: string, mutex: string): Promise<{ readonly answer: Answer } | null> {
    const unit = new Unit(this.#server, this.#time, claim)
    for (let loads = 0; loads < mostLoads; loads++) {
      const result = unit.attempt(rule)
      if (result instanceof Missing) {
        await unit.rows.load(result.needs)
        continue
      }
      const { answer, failure, writes, wakes } = result
      if (failure instanceof TreadleError) throw failure
      if (failure === null && writes.length === 0) return { answer: answer as Answer }
      const [refused] = await this.#commit([result], mutex)
      if (refused !== '') return null
      // Rules may fail on inconsistent data if half of it was changed while they read it. The commit has ruled that out.
      if (failure !== null) throw failure
      if (wakes) this.#onWake()
      return { answer: answer as Answer }
    }
    throw endless()
  }

  async #commit(prepared: readonly Prepared<unknown>[], mutex: string): Promise<readonly string[]> {
    const args = prepared.flatMap(({ checks, writes }) => {
      const texts = ['m', mutex, ...checks, '.', ...writes.flat()]
      return [texts.length, ...texts]
    })
    return (await this.#server.run(commit, args)) as string[]
  }

  async #lock(): Promise<string> {
    const own = randomToken()
    while (true) {
      if ((await this.#server.run(lock, [own, mutexMs])) === 1) return own
      await pause(systemClock, mutexPauseMs)
    }
  }

  async #unlock(own: string): Promise<void> {
    await this.#server.run(unlock, [own])
  }
}

// One that never expires was not written by a program of the queue.
const lock = scriptEvenWhenFull(`
if redis.call('PTTL', KEYS[1] .. 'mutex') == -1 then redis.call('DEL', KEYS[1] .. 'mutex') end
return redis.call('SET', KEYS[1] .. 'mutex', ARGV[1], 'NX', 'PX', ARGV[2]) and 1 or 0
`)

const unlock = script(`
if redis.call('GET', KEYS[1] .. 'mutex') == ARGV[1] then redis.call('DEL', KEYS[1] .. 'mutex') end
return ''
`)

/** A rule that has run to its end on loaded data but has not written anything yet. */
export interface Prepared<Answer> {
  /** Null if it failed. */
  readonly answer: Answer | null
  readonly failure: unknown
  readonly checks: readonly (string | number)[]
  readonly writes: readonly Op[]
  readonly wakes: boolean
}

/** One attempt: rules, and what was loaded for them. */
class Unit {
  readonly rows: Rows
  readonly #time: QueueTime
  readonly #claim: string
  readonly #tails = new TailSizes(firstTail)
  readonly #stamp = randomToken().slice(0, 8)

  constructor(server: RedisServer, time: QueueTime, claim: string) {
    this.rows = new Rows(server)
    this.#time = time
    this.#claim = claim
  }

  attempt<Answer>(rule: Rule<Answer>): Prepared<Answer> | Missing<Need> {
    this.rows.begin()
    const queue = new LoadedQueue(this.rows, { now: this.#time.now(), claim: this.#claim }, this.#tails)
    try {
      const { answer, ops = [] } = rule(queue)
      const writes = [...ops, ...writesOf(queue, this.#stamp)]
      if (writes.length > 0 && !storesJobs(queue)) writes.unshift(evenWhenFull)
      return { answer, failure: null, checks: writes.length === 0 ? [] : checksOf(queue), writes, wakes: queue.wakes }
    } catch (thrown) {
      if (thrown instanceof Missing) return thrown
      return { answer: null, failure: thrown, checks: checksOf(queue), writes: [], wakes: false }
    }
  }
}

function endless(): TreadleError {
  return new TreadleError('DATABASE_FAILED', 'A call kept loading more of the queue without reaching an end')
}

/** A job's body and outcome change only together with its head, so they need no check of their own. */
const withHead = ['b', 'x', 'gone', 'c']

function checksOf(queue: LoadedQueue): readonly (string | number)[] {
  const checks: (string | number)[] = []
  for (const [need, stored] of queue.rows.touched) {
    // A list's length is stored in a field beside it, which is checked instead.
    if (need.kind === 'list') continue
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

/** The stamp at the beginning of a head, including the bar that ends it. */
function stampOf(head: string): string {
  return head.slice(0, head.indexOf('|') + 1)
}
