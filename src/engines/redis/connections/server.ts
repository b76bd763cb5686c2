import { messageOf, TreadleError } from '../../../core/errors.ts'
import { nextTurn, systemClock, type Timer } from '../../../core/time/clock.ts'
import { closedError } from '../../../queue/backend/calls.ts'
import type { Need } from '../units/needs.ts'
import type { RedisClient } from './client.ts'
import { whenReady } from './connection.ts'
import { failureOf, isReadOnly, isWrongType } from './failure.ts'
import { noKey, type Script, scriptEvenWhenFull } from './script.ts'

export interface RedisServerOptions {
  readonly client: RedisClient
  /** Prefix of all keys. */
  readonly prefix: string
  /** How long a call may take before it fails. */
  readonly timeoutMs: number
  /** Where the server is, for error messages. */
  readonly place: string
  /** Called when another connection should be tried: an answer did not arrive in time, or came from a replica. */
  readonly onDoubt: () => void
}

const changeScript = scriptEvenWhenFull(`
local answers, at = {}, 1
while at <= #ARGV do
  local length = tonumber(ARGV[at])
  answers[#answers + 1] = redis.call(ARGV[at + 1], KEYS[1] .. ARGV[at + 2], unpack(ARGV, at + 3, at + length))
  at = at + length + 1
end
return answers
`)

type Stored = string | null | readonly string[]

/** Minimum time between connections that are given up because they lead to a replica. */
const leaveReplicaEveryMs = 1_000
/** Maximum number of fields per command. */
const mostFields = 5_000

/** One server or cluster, and the keys of one queue in it. Every call ends, with an answer or a timeout. */
export class RedisServer {
  readonly prefix: string
  readonly #options: RedisServerOptions
  /** What fails each call that was sent and is not answered yet. */
  readonly #unanswered = new Set<(thrown: TreadleError) => void>()
  #isClosed = false
  #readOnlySince = 0

  constructor(options: RedisServerOptions) {
    this.#options = options
    this.prefix = options.prefix
    for (const event of connectionEnds) options.client.on(event, this.#onConnectionEnd)
  }

  /** Later calls fail. */
  close(): void {
    this.#isClosed = true
    for (const event of connectionEnds) this.#options.client.off(event, this.#onConnectionEnd)
  }

  command(name: string, ...args: (string | number)[]): Promise<unknown> {
    return this.#timed(() => this.#options.client.call(name, args))
  }

  /** Runs a script on the keys of this queue. */
  async run(script: Script, args: readonly (string | number)[]): Promise<unknown> {
    const { client, prefix } = this.#options
    // While a cluster moves the slot of the queue to another node, each node has a part of the keys, and a script would run beside
    // half of a queue. A node refuses a call during that time if it names two keys and does not have both.
    const keys = [2, prefix, prefix + noKey]
    return this.#timed(async () => {
      try {
        return await client.call('EVALSHA', [script.digest, ...keys, ...args])
      } catch (thrown) {
        if (!messageOf(thrown).startsWith('NOSCRIPT')) throw thrown
        return await client.call('EVAL', [script.text, ...keys, ...args])
      }
    })
  }

  /** Runs several commands in one round trip and returns all answers. The first argument of each is a key without the prefix. */
  async all(commands: readonly (readonly [name: string, key: string, ...args: (string | number)[]])[]): Promise<unknown[]> {
    if (commands.length === 0) return []
    const { client, prefix } = this.#options
    const full = commands.map(([name, key, ...args]) => [name.toLowerCase(), prefix + key, ...args])
    const answers = await this.#timed(async () => {
      return ((await client.pipeline(full).exec()) ?? []).map(([error, answer]) => {
        if (error !== null && !isWrongType(error)) throw error
        return error ?? answer
      })
    })
    const refused = commands.filter((_, index) => isWrongType(answers[index]))
    if (refused.length === 0) return answers
    // Scripts set such keys aside.
    const anew = (await this.change(refused)).values()
    return answers.map((answer) => (isWrongType(answer) ? anew.next().value : answer))
  }

  /** Runs several commands that change little, which have to go through even while the memory of the server is full. */
  async change(commands: readonly (readonly [name: string, key: string, ...args: (string | number)[]])[]): Promise<unknown[]> {
    return (await this.run(
      changeScript,
      commands.flatMap((command) => [command.length, ...command]),
    )) as unknown[]
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
  async #sent<Answer>(ask: () => Promise<Answer>, fail: (thrown: TreadleError) => void): Promise<Answer> {
    const { client, timeoutMs, place } = this.#options
    while (true) {
      if (client.status === 'ready') this.#unanswered.add(fail)
      try {
        return await ask()
      } catch (thrown) {
        if (!messageOf(thrown).startsWith(unsent)) throw thrown
      } finally {
        this.#unanswered.delete(fail)
      }
      await nextTurn()
      await whenReady(client, timeoutMs, place)
    }
  }

  /**
   * The driver drops such calls without a word, or sends them again on the next connection if a given client is set up so.
   * Whoever made them finds out what became of them.
   */
  readonly #onConnectionEnd = () => {
    const message = `Redis at ${this.#options.place} ended the connection before it answered`
    for (const fail of this.#unanswered) fail(new TreadleError('DATABASE_UNREACHABLE', message))
  }

  /**
   * A primary that was demoted may keep its connections open, while its name leads to another server already: the next connection
   * may find that one.
   */
  #leaveReplica(): void {
    const now = systemClock.now()
    if (now - this.#readOnlySince < leaveReplicaEveryMs) return
    this.#readOnlySince = now
    this.#options.onDoubt()
  }

  async #timed<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    if (this.#isClosed) throw closedError('redis')
    const { timeoutMs, place, onDoubt } = this.#options
    let timer: Timer | undefined
    let fail: (thrown: TreadleError) => void = () => {}
    const failed = new Promise<never>((_, reject) => {
      fail = reject
      timer = systemClock.timer(timeoutMs, () => {
        onDoubt()
        reject(new TreadleError('DATABASE_UNREACHABLE', `Redis at ${place} did not answer within ${timeoutMs} ms`))
      })
    })
    try {
      return await Promise.race([this.#sent(ask, fail), failed])
    } catch (thrown) {
      if (isReadOnly(thrown)) this.#leaveReplica()
      throw thrown instanceof TreadleError ? thrown : failureOf(thrown, place)
    } finally {
      timer?.cancel()
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

/** Events of the end of a connection: of a client to one server, and of a cluster client to one of its nodes. */
const connectionEnds = ['close', '-node']

/** The driver's message for a connection that ended before it was used. */
const unsent = "Stream isn't writeable"
