import { messageOf, TreadleError } from '../../../core/errors.ts'
import { nextTurn, pause, systemClock } from '../../../core/time/clock.ts'
import type { Need } from '../units/needs.ts'
import type { RedisClient } from './client.ts'
import { isDenied, whenReady } from './connection.ts'
import type { Script } from './script.ts'

export interface RedisServerOptions {
  readonly client: RedisClient
  /** Prefix of all keys. */
  readonly prefix: string
  /** How long a call may take before it fails. */
  readonly timeoutMs: number
  /** Where the server is, for error messages. */
  readonly place: string
  /** Called when an answer did not arrive in time: the connection may be dead without having closed. */
  readonly onSilence: () => void
}

type Stored = string | null | readonly string[]

/** Maximum number of fields per command. */
const mostFields = 5_000

/** One server or cluster, and the keys of one queue in it. Every call ends, with an answer or a timeout. */
export class RedisServer {
  readonly prefix: string
  readonly #options: RedisServerOptions
  #isClosed = false

  constructor(options: RedisServerOptions) {
    this.#options = options
    this.prefix = options.prefix
  }

  /** Later calls fail. */
  close(): void {
    this.#isClosed = true
  }

  command(name: string, ...args: (string | number)[]): Promise<unknown> {
    return this.#timed(() => this.#options.client.call(name, args))
  }

  /** Runs a script on the keys of this queue. */
  async run(script: Script, args: readonly (string | number)[]): Promise<unknown> {
    const { client, prefix } = this.#options
    return this.#timed(async () => {
      try {
        return await client.call('EVALSHA', [script.digest, 1, prefix, ...args])
      } catch (thrown) {
        if (!messageOf(thrown).startsWith('NOSCRIPT')) throw thrown
        return await client.call('EVAL', [script.text, 1, prefix, ...args])
      }
    })
  }

  /** Runs several commands in one round trip and returns all answers. The first argument of each is a key without the prefix. */
  async all(commands: readonly (readonly [name: string, key: string, ...args: (string | number)[]])[]): Promise<unknown[]> {
    if (commands.length === 0) return []
    const { client, prefix } = this.#options
    const full = commands.map(([name, key, ...args]) => [name.toLowerCase(), prefix + key, ...args])
    return this.#timed(async () => {
      const answers = await client.pipeline(full).exec()
      return (answers ?? []).map(([error, answer]) => {
        if (error !== null) throw error
        return answer
      })
    })
  }

  /** Reads all of these in one round trip. */
  async read(needs: readonly Need[]): Promise<readonly Stored[]> {
    const answers: Stored[] = new Array(needs.length).fill(null)
    const commands: (readonly [string, string, ...(string | number)[]])[] = []
    const places: number[][] = []
    const byTable = new Map<string, number[]>()
    for (const [index, need] of needs.entries()) {
      if (need.kind === 'field') {
        const known = byTable.get(need.table)
        if (known === undefined) byTable.set(need.table, [index])
        else known.push(index)
        continue
      }
      commands.push(commandOf(need))
      places.push([index])
    }
    for (const [table, indexes] of byTable) {
      for (let start = 0; start < indexes.length; start += mostFields) {
        const part = indexes.slice(start, start + mostFields)
        commands.push(['HMGET', table, ...part.map((index) => (needs[index] as Need & { kind: 'field' }).field)])
        places.push(part)
      }
    }
    for (const [which, answer] of (await this.all(commands)).entries()) {
      const indexes = places[which] as number[]
      const isFields = commands[which]?.[0] === 'HMGET'
      if (isFields) for (const [place, index] of indexes.entries()) answers[index] = (answer as (string | null)[])[place] ?? null
      else answers[indexes[0] as number] = answer as Stored
    }
    return answers
  }

  /** If the connection ended before the command was sent, sends it on the next one. */
  async #sent<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    const { client, timeoutMs, place } = this.#options
    while (true) {
      try {
        return await ask()
      } catch (thrown) {
        if (!messageOf(thrown).startsWith(unsent)) throw thrown
      }
      await nextTurn()
      await whenReady(client, timeoutMs, place)
    }
  }

  async #timed<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    if (this.#isClosed) throw closedError()
    const { timeoutMs, place, onSilence } = this.#options
    const over = new AbortController()
    const late = pause(systemClock, timeoutMs, over.signal).then(() => {
      if (over.signal.aborted) return undefined as never
      onSilence()
      throw new TreadleError('DATABASE_UNREACHABLE', `Redis at ${place} did not answer within ${timeoutMs} ms`)
    })
    try {
      return await Promise.race([this.#sent(ask), late])
    } catch (thrown) {
      throw thrown instanceof TreadleError ? thrown : failureOf(thrown, place)
    } finally {
      over.abort()
    }
  }
}

function commandOf(need: Exclude<Need, { kind: 'field' }>): readonly [string, string, ...(string | number)[]] {
  switch (need.kind) {
    case 'text':
      return ['GET', need.key]
    case 'range':
      return ['ZRANGE', need.key, need.start, need.stop]
    case 'list':
      return ['LRANGE', need.key, 0, -1]
  }
}

/** The driver's message for a connection that ended before it was used. */
const unsent = "Stream isn't writeable"

export function closedError(): TreadleError {
  return new TreadleError('BACKEND_CLOSED', 'The redis backend is closed. Open a new one.')
}

/** Replies of a server that cannot accept writes now, or is not the one to accept them. */
const unavailable = /^(LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN|NOREPLICAS|BUSY|UNBLOCKED|MISCONF)\b/

function failureOf(thrown: unknown, place: string): TreadleError {
  const message = messageOf(thrown)
  const text = `Redis at ${place}: ${message}`
  if (isDenied(thrown)) return new TreadleError('DATABASE_DENIED', text, { cause: thrown })
  if (/^OOM\b/.test(message) || /-OOM/.test(message)) {
    const advice = 'Its memory is full (maxmemory): give it more, or keep finished jobs for a shorter time'
    return new TreadleError('DATABASE_UNWRITABLE', `${text}. ${advice}`, { cause: thrown })
  }
  const isReply = (thrown as { name?: unknown } | null)?.name === 'ReplyError'
  const isUnreachable = !isReply || unavailable.test(message)
  return new TreadleError(isUnreachable ? 'DATABASE_UNREACHABLE' : 'DATABASE_FAILED', text, { cause: thrown })
}
