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
import { SqlGround } from '../backends/sql-ground.ts'
import { type Served, serving } from '../server/bedrock/served.ts'
import { type Serving, serving as servingHttp } from '../server/http/serving.ts'
import { type World, worldOn } from '../world.ts'

export const engines = ['sqlite', 'postgres', 'mariadb'] as const
export type Engine = (typeof engines)[number]

const secret = 'a secret of 16 bytes or more'
export const signingKey = { id: 'k1', secret }
const keys = new KeyRing([signingKey])

/** A queue whose jobs are signed, and somebody who can write to its database and has not got the key. */
export interface AttackedQueue extends World {
  /** As the attacker says it: `{jobs}` is the table of jobs. */
  sql(statement: string): Promise<void>
  /** Writes columns of a job's row; what is no text or number is written as JSON. */
  forge(id: string, columns: Readonly<Record<string, string | number | null>>): Promise<void>
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
  const clock = new ManualClock(Date.UTC(2026, 0, 1))
  const { backend, sql } = engine === 'sqlite' ? await attackedFile(clock) : await attackedServer(engine, clock)
  const options = { signingKey, ...given }
  const world = worldOn(backend, clock, options)
  const record = async (id: string) => world.record({ id })
  const forge: AttackedQueue['forge'] = async (id, columns) => {
    const changes = Object.entries(columns).map(([column, value]) => `${column} = ${literal(value)}`)
    // A text that many identities end with stands elsewhere in a file.
    const whole = engine === 'sqlite' && 'identity' in columns ? [...changes, 'stamp = NULL'] : changes
    await sql(`UPDATE {jobs} SET ${whole.join(', ')} WHERE id = '${id}'`)
  }
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
    sql,
    forge,
    forgeIdentity: async (id, changes) => {
      const identity = Object.assign(JSON.parse((await record(id)).identity), changes)
      await forge(id, { identity: JSON.stringify(identity) })
    },
    idOf: async (number) => (await backend.store.numbers.find([number]))[0] as string,
    isSigned,
    expectRejected: async (id) => {
      const { state, reason } = await record(id)
      expect({ state, reason, isSigned: await isSigned(id) }).toEqual({ state: 'dead', reason: 'rejected', isSigned: false })
    },
    bedrock: (given = {}) => serving(world, given),
    http: () => servingHttp({ on: { backend, clock }, jobs: options }),
  }
}

interface Ground {
  readonly backend: WholeBackend
  sql(statement: string): Promise<void>
}

async function attackedFile(clock: ManualClock): Promise<Ground> {
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
  return { backend, sql }
}

async function attackedServer(engine: 'postgres' | 'mariadb', clock: ManualClock): Promise<Ground> {
  const ground = new SqlGround(engine)
  await ground.start()
  onTestFinished(() => ground.stop())
  const backend = (await ground.open(clock)) as WholeBackend
  return { backend, sql: async (statement) => void (await ground.query(statement)) }
}

function literal(value: string | number | null): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}
