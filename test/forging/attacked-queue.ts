import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import type { TreadleOptions } from '../../src/app/treadle.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { loadDriver } from '../../src/engines/sqlite/file/driver.ts'
import { openSqlite } from '../../src/engines/sqlite/index.ts'
import { openEnvelope } from '../../src/envelope/envelope.ts'
import { KeyRing } from '../../src/envelope/keys/key-ring.ts'
import type { WholeBackend } from '../../src/queue/contract/contract.ts'
import type { ServeOptions } from '../../src/server/serve-options.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { freshPrefix, openFresh, rawClient, redisUrl } from '../backends/redis-ground.ts'
import { SqlGround } from '../backends/sql-ground.ts'
import { type Served, serving } from '../server/bedrock/served.ts'
import { type Serving, serving as servingHttp } from '../server/http/serving.ts'
import { type World, worldOn } from '../world.ts'
import type { Attacker } from './attacker.ts'
import { type RedisAttacker, redisAttacker } from './redis-attacker.ts'
import { type SqlAttacker, sqlAttacker } from './sql-attacker.ts'

export const sqlEngines = ['sqlite', 'postgres', 'mariadb'] as const
export type SqlEngine = (typeof sqlEngines)[number]
export type Engine = SqlEngine | 'redis'
/** Those that are there. */
export const engines: readonly Engine[] = [...sqlEngines, ...(redisUrl() === null ? [] : ['redis' as const])]

const secret = 'a secret of 16 bytes or more'
export const signingKey = { id: 'k1', secret }
const keys = new KeyRing([signingKey])

/** A queue whose jobs are signed, and somebody who can write to its database and has not got the key. */
export interface AttackedQueue<By extends Attacker = Attacker> extends World {
  readonly attacker: By
  readonly forge: By['forge']
  /** Writes another identity: the member of an array that stands at this place. */
  forgeIdentity(id: string, changes: Readonly<Record<number, unknown>>): Promise<void>
  /** The id of the job with this number. */
  idOf(number: number): Promise<string>
  /** That a job is dead, as one that was refused, and that nothing vouches for what was forged. */
  expectRejected(id: string): Promise<void>
  /** Whether the row as it is was signed by somebody who has the key. */
  isSigned(id: string): Promise<boolean>
  bedrock(options?: ServeOptions): Promise<Served>
  http(): Promise<Serving>
}

/** Where the fields of an identity stand in its array. */
export const field = { id: 1, job: 2, maxRetries: 6, idempotencyKey: 9, meta: 10 } as const

export async function attackedQueue(engine: Engine, given: TreadleOptions = {}): Promise<AttackedQueue> {
  return engine === 'redis' ? attackedRedisQueue(given) : attackedSqlQueue(engine, given)
}

export async function attackedSqlQueue(engine: SqlEngine, given: TreadleOptions = {}): Promise<AttackedQueue<SqlAttacker>> {
  const clock = startClock()
  return attackedOn(engine === 'sqlite' ? await attackedFile(clock) : await attackedServer(engine, clock), clock, given)
}

export async function attackedRedisQueue(given: TreadleOptions = {}): Promise<AttackedQueue<RedisAttacker>> {
  const clock = startClock()
  const prefix = freshPrefix()
  const backend = await openFresh({ prefix, clock })
  const client = await rawClient()
  onTestFinished(() => client[Symbol.asyncDispose]())
  return attackedOn({ backend, attacker: redisAttacker(client, `{${prefix}}:`) }, clock, given)
}

function startClock(): ManualClock {
  return new ManualClock(Date.UTC(2026, 0, 1))
}

function attackedOn<By extends Attacker>(
  { backend, attacker }: Ground<By>,
  clock: ManualClock,
  given: TreadleOptions,
): AttackedQueue<By> {
  const { forge } = attacker
  const options = { signingKey, ...given }
  const world = worldOn(backend, clock, options)
  const record = async (id: string) => world.record({ id })
  const isSigned = async (id: string) => {
    try {
      openEnvelope(await record(id), keys)
      return true
    } catch {
      return false
    }
  }
  return {
    ...world,
    attacker,
    forge,
    forgeIdentity: async (id, changes) => {
      const identity = Object.assign(JSON.parse((await record(id)).identity), changes)
      await forge(id, { identity: JSON.stringify(identity) })
    },
    idOf: async (number) => (await backend.store.numbers!.find([number]))[0] as string,
    isSigned,
    expectRejected: async (id) => {
      const { state, reason } = await record(id)
      expect({ state, reason, isSigned: await isSigned(id) }).toEqual({ state: 'dead', reason: 'rejected', isSigned: false })
    },
    bedrock: (given = {}) => serving(world, given),
    http: () => servingHttp({ on: { backend, clock }, jobs: options }),
  }
}

interface Ground<By extends Attacker> {
  readonly backend: WholeBackend
  readonly attacker: By
}

async function attackedFile(clock: ManualClock): Promise<Ground<SqlAttacker>> {
  const folder = mkdtempSync(join(tmpdir(), 'treadle-attacked-'))
  const path = join(folder, 'jobs.db')
  const backend = (await openSqlite({ path, clock, logger: silentLogger, migrate: true })) as WholeBackend
  const Driver = await loadDriver()
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const sql = async (statement: string) => {
    const connection = new Driver(path)
    connection.exec(`PRAGMA busy_timeout = 10000; ${statement.replaceAll(/\{(\w+)\}/g, 'treadle_$1')}`)
    connection.close()
  }
  return { backend, attacker: sqlAttacker(backend, sql, true) }
}

async function attackedServer(engine: 'postgres' | 'mariadb', clock: ManualClock): Promise<Ground<SqlAttacker>> {
  const ground = new SqlGround(engine)
  await ground.start()
  onTestFinished(() => ground.stop())
  const backend = (await ground.open(clock)) as WholeBackend
  const sql = async (statement: string) => void (await ground.query(statement))
  return { backend, attacker: sqlAttacker(backend, sql, false) }
}
