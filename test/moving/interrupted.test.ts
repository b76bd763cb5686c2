import { openSqlite } from 'treadle/sqlite'
import { afterAll, describe, expect, test } from 'vitest'
import { TreadleError } from '../../src/core/errors.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import { move } from '../../src/moving/index.ts'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'
import type { Transfer } from '../../src/queue/contract/transfer.ts'
import { Bench, unlimited } from '../../src/testing/conformance/bench.ts'
import { waitsFor } from '../../src/testing/conformance/workflows/links.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'
import { scratchFolder } from '../processes/database.ts'

const folder = scratchFolder()
afterAll(() => folder.remove())
const silent = { debug() {}, info() {}, warn() {}, error() {} }
let files = 0

type Open = (clock: ManualClock) => Promise<QueueBackend>
const inMemory: Open = async (clock) => openMemory({ clock })
const inFile: Open = (clock) => openSqlite({ path: folder.file(`${++files}.db`), clock, logger: silent })

class Killed extends Error {}

/** Where a mover dies: at this call, before or after it was carried out. From there on it asks for nothing more. */
interface Death {
  readonly call: number
  readonly moment: 'before' | 'after'
  readonly reason: () => Error
}

/** The calls of one mover to both queues. */
class Calls {
  count = 0
  readonly #death: Death | null
  #isDead = false

  constructor(death: Death | null) {
    this.#death = death
  }

  of(backend: QueueBackend): QueueBackend {
    const transfer = Object.fromEntries(
      (['identity', 'pack', 'read', 'parcels', 'parcel', 'unpack', 'close', 'facts', 'learn'] as const).map((name) => [
        name,
        (...args: readonly unknown[]) =>
          this.#call(() => (backend.transfer![name] as (...all: unknown[]) => Promise<unknown>)(...args)),
      ]),
    ) as Partial<Transfer> as Transfer
    const { kind, store, coordination } = backend
    const reap: QueueBackend['reap'] = (rescues) => backend.reap(rescues)
    return { ...unused, kind, reap, transfer, store: store!, coordination: coordination! }
  }

  async #call<Value>(work: () => Promise<Value>): Promise<Value> {
    const death = ++this.count === this.#death?.call ? this.#death : null
    if (this.#isDead) throw this.#death!.reason()
    if (death?.moment === 'before') this.#die(death)
    const answer = await work()
    if (death?.moment === 'after') this.#die(death)
    return answer
  }

  #die({ reason }: Death): void {
    const thrown = reason()
    this.#isDead = thrown instanceof Killed
    throw thrown
  }
}

const never = () => Promise.reject(new Error('a move does not ask for this'))
const unused = {
  send: never,
  lease: never,
  settle: never,
  begin: never,
  extend: never,
  watch: () => ({ isPush: false, close() {} }),
  [Symbol.asyncDispose]: async () => {},
}

/** Two queues, and what ran of the jobs that were sent to the first one. */
class Scene implements AsyncDisposable {
  readonly clock = new ManualClock()
  readonly ran: string[] = []
  readonly from: QueueBackend
  readonly to: QueueBackend
  sent: readonly string[] = []

  constructor(from: QueueBackend, to: QueueBackend) {
    this.from = from
    this.to = to
  }

  async fill(bench: Bench): Promise<void> {
    const first = await bench.send({}, { uniqueKey: 'k' }, { job: 'step' })
    const waiting = await bench.sendOne({ job: 'join', links: waitsFor([first[2] as string]) })
    this.sent = [...first, waiting]
    await bench.store.schedules.register([{ name: 's', expression: '* * * * *', timezone: 'UTC', version: 'v' }])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.from[Symbol.asyncDispose]()
    await this.to[Symbol.asyncDispose]()
  }

  /** Workers on both sides run all that they get, and keep nothing of it. */
  async work(): Promise<void> {
    for (const queue of [this.from, this.to]) {
      for (let claimed = 1; claimed > 0; ) {
        const request = {
          jobs: unlimited('work', 'step', 'join'),
          queues: null,
          limit: 9,
          leaseMs: 9_000,
          owner: 'w',
          maxRescues: 3,
        }
        const { leases } = await queue.lease(request)
        claimed = leases.length
        this.ran.push(...leases.map(({ envelope }) => envelope.id))
        await queue.settle(leases.map(({ token }) => ({ token, kind: 'done', result: null, keep: false }) as const))
      }
    }
  }
}

async function sceneOf(from: Open, to: Open): Promise<Scene> {
  const clock = new ManualClock()
  const scene = new Scene(await from(clock), await to(clock))
  await scene.fill(new Bench(scene.from, clock))
  return scene
}

async function callsOf(from: Open, to: Open): Promise<number> {
  await using scene = await sceneOf(from, to)
  const calls = new Calls(null)
  await move({ from: calls.of(scene.from), to: calls.of(scene.to) })
  return calls.count
}

/** Each call of a move, and each moment of it at which the mover may die. */
async function* deaths(from: Open, to: Open, moments: readonly Death['moment'][], reason: () => Error) {
  const calls = await callsOf(from, to)
  expect(calls).toBeGreaterThan(10)
  for (let call = 1; call <= calls; call++) for (const moment of moments) yield { call, moment, reason }
}

const killed = () => new Killed('killed')
const disconnected = () => new TreadleError('DATABASE_UNREACHABLE', 'the connection is gone')

describe('whenever the mover is killed, the next one goes on, and each job runs once', () => {
  test.for([
    ['memory', 'memory', inMemory, inMemory, ['before', 'after']],
    ['SQLite', 'memory', inFile, inMemory, ['after']],
    ['memory', 'SQLite', inMemory, inFile, ['after']],
  ] as const)('from %s to %s', async ([, , from, to, moments]) => {
    for await (const death of deaths(from, to, moments, killed)) {
      await using scene = await sceneOf(from, to)
      const dying = new Calls(death)
      await expect(move({ from: dying.of(scene.from), to: dying.of(scene.to) })).rejects.toThrow(Killed)
      await scene.work()
      const report = await move({ from: scene.from, to: scene.to })
      await scene.work()
      expect([...scene.ran].sort(), `killed ${death.moment} call ${death.call}`).toEqual([...scene.sent].sort())
      expect(report.isComplete).toBe(true)
      expect(await scene.from.transfer!.parcels()).toEqual([])
      expect(await scene.to.store!.schedules.standings()).toMatchObject([{ name: 's', paused: false }])
    }
  })
})

test('whenever a connection is lost, the mover goes on by itself, and each job runs once', async () => {
  for await (const death of deaths(inMemory, inMemory, ['before', 'after'], disconnected)) {
    await using scene = await sceneOf(inMemory, inMemory)
    const shaky = new Calls(death)
    const report = await move({ from: shaky.of(scene.from), to: shaky.of(scene.to) })
    await scene.work()
    expect([...scene.ran].sort(), `lost ${death.moment} call ${death.call}`).toEqual([...scene.sent].sort())
    expect(report.isComplete).toBe(true)
  }
})

test('a move that was interrupted is not gone on with to another target', async () => {
  const scene = await sceneOf(inMemory, inMemory)
  const dead = { ...scene.to.transfer!, unpack: () => Promise.reject(killed()) }
  const target = {
    ...new Calls(null).of(scene.to),
    transfer: { ...dead, identity: () => scene.to.transfer!.identity(), learn: async () => {} },
  }
  await expect(move({ from: scene.from, to: target })).rejects.toThrow(Killed)
  const elsewhere = await inMemory(scene.clock)
  await expect(move({ from: scene.from, to: elsewhere })).rejects.toMatchObject({ code: 'MOVE_REFUSED' })
  expect(await move({ from: scene.from, to: scene.to })).toMatchObject({ isComplete: true })
})
