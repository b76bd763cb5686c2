import { sealEnvelope } from '../../src/envelope/envelope.ts'
import { KeyRing } from '../../src/envelope/keys/key-ring.ts'
import type { QueueBackend } from '../../src/queue/contract/contract.ts'
import { Bench, unlimited } from '../../src/testing/conformance/bench.ts'
import { entry, minute, occurrence } from '../../src/testing/conformance/schedules/schedules.ts'
import { childOf, waitsFor } from '../../src/testing/conformance/workflows/links.ts'
import type { ManualClock } from '../../src/testing/manual-clock.ts'

const secret = 'a signing key that is long enough for a test 0123456789'

export const keys = new KeyRing([{ id: 'test', secret }])

/** Puts one of everything that a queue can hold into it. */
export async function fill(backend: QueueBackend, clock: ManualClock): Promise<void> {
  const bench = new Bench(backend, clock)
  await sendPlain(bench)
  await endSome(bench)
  await sendWorkflows(bench)
  await keepKeys(bench)
  await keepSchedules(bench)
  await bench.store.setPaused({ queue: 'stopped' }, true)
  await clock.advance(50)
}

async function sendPlain(bench: Bench): Promise<void> {
  await bench.send(
    { payload: '{"text":"ü 𝄞 \\u0000 \\"quoted\\""}', meta: { trace: 'a b' } },
    { delayMs: 3_600_000, priority: 9, tags: ['urgent', 'customer 7'] },
    { queue: 'stopped', group: 'customer 1' },
    { group: 'customer 2', priority: 1 },
    { singleInstance: true, repeat: 'every 1 hour', timeoutMs: 5_000 },
    { number: await bench.numbers.reserve(1), payload: '[]' },
    { uniqueKey: 'while it lives' },
    { uniqueKey: 'until it starts', uniqueUntil: 'started' },
    { uniqueKey: 'for an hour', uniqueUntil: bench.clock.now() + 3_600_000 },
    { uniqueKey: 'for ever', uniqueUntil: 'ever' },
  )
  const { identity } = bench.envelope({ job: 'signed' })
  const parsed = { ...bench.envelope({ job: 'signed' }), identity }
  await bench.backend.send([
    sealEnvelope(identityOf(bench, 'signed'), '{"signed":true}', delivery(bench), keys),
    { ...sealEnvelope(identityOf(bench, 'forged'), '{"forged":true}', delivery(bench), keys), signature: 'somebody else' },
    { ...parsed, identity: 'no identity at all' },
  ])
}

function identityOf(bench: Bench, job: string) {
  const common = { name: job, queue: 'default', priority: 5, maxRetries: 3, timeoutMs: null, singleInstance: false }
  return { id: bench.newId(), job, ...common, idempotencyKey: null, meta: {}, occurrence: null, repeat: null }
}

function delivery(bench: Bench) {
  return { createdAt: bench.clock.now(), runAt: bench.clock.now(), uniqueKey: null }
}

async function endSome(bench: Bench): Promise<void> {
  const names = ['succeeding', 'dying', 'retrying', 'rescued', 'skipping', 'cancelled']
  await bench.send(...names.map((job) => ({ job, uniqueKey: `of ${job}` })))
  const leases = await bench.claim({ jobs: unlimited(...names), leaseMs: 1_000 })
  await bench.store.report(leases.map(({ token }) => ({ token, progress: '{"percent":50}' })))
  const chunks = leases.map(({ envelope: { id } }) => ({ id, attempt: 1, lines: 2, dropped: 1, text: '["ü",2]' }))
  await bench.store.logs?.append(chunks, { lines: 1_000, bytes: 1_000_000 })
  await bench.clock.advance(10)
  for (const lease of leases) {
    const { job, id } = lease.envelope
    if (job === 'succeeding') await bench.settle(bench.done(lease, { keep: true, result: '{"n":1}', seal: 'a seal' }))
    if (job === 'dying') await bench.settle(bench.dead(lease))
    if (job === 'retrying') await bench.settle(bench.retry(lease, 60_000))
    if (job === 'skipping') await bench.settle(bench.skipped(lease))
    if (job === 'cancelled') {
      await bench.store.cancel(id)
      await bench.settle(bench.cancelled(lease))
    }
  }
  await bench.clock.advance(1_000)
  await bench.backend.reap(3)
}

async function sendWorkflows(bench: Bench): Promise<void> {
  const root = bench.newId()
  const [done, failing, open] = await bench.send(
    { job: 'step', links: { ...waitsFor([]), root } },
    { job: 'step', links: { ...waitsFor([]), root } },
    { job: 'later', links: { ...waitsFor([]), root } },
  )
  const ids = [done, failing, open] as string[]
  await bench.send(
    { job: 'join', links: { ...waitsFor(ids, 'ignore'), root } },
    { job: 'rescue', links: { ...waitsFor([open as string], 'rescue'), root } },
  )
  const [first, second] = await bench.claim({ jobs: unlimited('step') })
  if (first === undefined || second === undefined) throw new Error('both steps should have been claimed')
  await bench.settle(bench.done(first, { result: '"first"' }), bench.dead(second))
  await sendFamily(bench)
}

/** A parent whose handler has ended, and one that is to run again, both with children that wait. */
async function sendFamily(bench: Bench): Promise<void> {
  await bench.send({ job: 'parent' }, { job: 'parent' })
  const [ending, waiting] = await bench.claim({ jobs: unlimited('parent') })
  if (ending === undefined || waiting === undefined) throw new Error('both parents should have been claimed')
  await bench.coordination.claimOnce('held by a parent', ending.envelope.id)
  await bench.send({ job: 'child', links: childOf(ending, 'one') }, { job: 'child', links: childOf(ending, 'two', 'ignore') })
  await bench.send({ job: 'child', links: childOf(waiting, 'only') })
  const once = { key: 'held by a parent', keepMs: 60_000 }
  await bench.backend.settle([bench.done(ending, { keep: true, result: '1', once }), bench.wait(waiting)])
}

async function keepKeys(bench: Bench): Promise<void> {
  await bench.send({ job: 'paying', uniqueKey: 'outlives its job', uniqueUntil: 'ever' })
  const lease = await bench.claimOne({ jobs: unlimited('paying') })
  await bench.settle(bench.done(lease, { result: '{"paid":42}', once: { key: 'payment 1', keepMs: 3_600_000, seal: 's' } }))
}

async function keepSchedules(bench: Bench): Promise<void> {
  const { schedules } = bench.store
  const said = { text: '{"job":"recurring"}', signature: 'as it was signed' }
  const stored = { ...entry('0 9 * * *', 'UTC', 'made at run time'), definition: said }
  await schedules.register([entry(), entry('0 8 * * 1', 'Europe/Berlin', 'paused one'), stored])
  await schedules.change('paused one', 'pause')
  const now = bench.clock.now()
  const of = (at: number) => occurrence(bench, at, 'digest', { job: 'recurring' })
  await schedules.enqueue([of(now - minute)])
  const lease = await bench.claimOne({ jobs: unlimited('recurring') })
  await bench.settle(bench.done(lease, { keep: true }))
  await schedules.enqueue([of(now), of(now + minute)])
}
