import assert from 'node:assert/strict'
import { encryptText, passingKey } from '../../../envelope/encryption.ts'
import type { FailurePolicy } from '../../../envelope/envelope.ts'
import type { JobState } from '../../../queue/contract/job-state.ts'
import { treeCounts } from '../../../queue/contract/queue-counts.ts'
import { type Bench, times } from '../bench.ts'
import type { Group } from '../suite.ts'
import { assertStates, claimJob, die, endJob, sendWaiting, succeed, waitsFor } from './links.ts'

/** Every way in which a job can end without success, by name. */
const failures: Readonly<Record<string, (bench: Bench, id: string) => Promise<unknown>>> = {
  dead: (bench, id) => endJob(bench, id, (lease) => bench.dead(lease)),
  'dead and deleted': (bench, id) => endJob(bench, id, (lease) => bench.dead(lease, false)),
  skipped: (bench, id) => endJob(bench, id, (lease) => bench.skipped(lease)),
  'skipped and deleted': (bench, id) => endJob(bench, id, (lease) => bench.skipped(lease, false)),
  'cancelled by its worker': (bench, id) => endJob(bench, id, (lease) => bench.cancelled(lease, false)),
  'cancelled while it waits': (bench, id) => bench.store.cancel(id),
  'cancelled while it runs': async (bench, id) => {
    const lease = await claimJob(bench, id)
    await bench.store.cancel(id)
    await bench.backend.settle([bench.retry(lease)])
  },
  'cancelled before its worker died': async (bench, id) => {
    await claimJob(bench, id)
    await bench.store.cancel(id)
    await bench.clock.advance(30_000)
    await bench.backend.reap(3)
  },
  poisoned: async (bench, id) => {
    await claimJob(bench, id)
    await bench.clock.advance(30_000)
    await bench.backend.reap(0)
  },
}

/** The state of a job that waits for two others, after the first has failed and then after the second has succeeded. */
const afterFailure: Readonly<Record<FailurePolicy, readonly [JobState, JobState]>> = {
  fail: ['dead', 'dead'],
  skip: ['skipped', 'skipped'],
  ignore: ['blocked', 'ready'],
  continue: ['ready', 'ready'],
  rescue: ['blocked', 'ready'],
}

const afterSuccess: Readonly<Record<FailurePolicy, JobState>> = {
  fail: 'ready',
  skip: 'ready',
  ignore: 'ready',
  continue: 'ready',
  rescue: 'skipped',
}

const policies = Object.keys(afterFailure) as FailurePolicy[]

export const failurePolicies: Group = {
  title: 'the failure policy of a dependency',
  needs: ['store'],
  tests: {
    'is set per dependency and applied as soon as possible (demand 29)': async (bench) => {
      for (const policy of policies) {
        const [bad, good] = (await bench.send({}, {})) as [string, string]
        const waiter = await sendWaiting(bench, [bad, good], policy)
        await die(bench, bad)
        assert.equal((await bench.record(waiter)).state, afterFailure[policy][0], `${policy}, after the failure`)
        await succeed(bench, good)
        assert.equal((await bench.record(waiter)).state, afterFailure[policy][1], `${policy}, at the end`)
        await bench.store.cancel(waiter)
      }
    },
    'does not matter if all succeed, except to a fallback job': async (bench) => {
      for (const policy of policies) {
        const [one, two] = (await bench.send({}, {})) as [string, string]
        const waiter = await sendWaiting(bench, [one, two], policy)
        await succeed(bench, one)
        await assertStates(bench, { [waiter]: 'blocked' })
        await succeed(bench, two)
        assert.equal((await bench.record(waiter)).state, afterSuccess[policy], policy)
        await bench.store.cancel(waiter)
      }
    },
    'applies to every way in which a job can end': async (bench) => {
      for (const [how, end] of Object.entries(failures)) {
        const first = await bench.sendOne()
        const doomed = await sendWaiting(bench, [first], 'fail')
        const brave = await sendWaiting(bench, [first], 'ignore')
        await end(bench, first)
        assert.equal((await bench.record(doomed)).state, 'dead', `after a job that was ${how}`)
        assert.equal((await bench.record(brave)).state, 'ready', `after a job that was ${how}`)
        await succeed(bench, brave)
      }
    },
    'names the job that failed, and why': async (bench) => {
      const first = await bench.sendOne()
      const second = await sendWaiting(bench, [first])
      const third = await sendWaiting(bench, [first], 'skip')
      await die(bench, first)
      const { reason, errors, finishedAt, attempts } = await bench.record(second)
      assert.deepEqual([reason, finishedAt, attempts], ['dependency', bench.clock.now(), 0])
      assert.match(errors.at(-1)?.message ?? '', new RegExp(`"work" \\(${first}\\).*dead: it broke`))
      const skipped = await bench.record(third)
      assert.deepEqual([skipped.state, skipped.errors], ['skipped', []])
      assert.match(skipped.reason ?? '', new RegExp(`"work" \\(${first}\\).*dead: it broke`))
    },
    'does not quote an encrypted error, which nobody could read there': async (bench) => {
      const message = encryptText('a secret'.repeat(100), 'error', 'k1', passingKey())
      const first = await bench.sendOne()
      const second = await sendWaiting(bench, [first])
      const third = await sendWaiting(bench, [second])
      await endJob(bench, first, (lease) => ({ ...bench.dead(lease), error: { ...bench.error(lease.attempt), message } }))
      const told = (await bench.record(second)).errors.at(-1)?.message ?? ''
      assert.equal(told, `The job "work" (${first}) that it waited for is dead, and its error is encrypted`)
      assert.ok((await bench.record(third)).errors.at(-1)?.message.endsWith(told))
      const late = await sendWaiting(bench, [first], 'skip')
      assert.equal((await bench.record(late)).reason, told)
    },
    'applies to a job that does not exist: it counts as failed': async (bench) => {
      const nowhere = bench.newId()
      const dead = await sendWaiting(bench, [nowhere], 'fail')
      const ready = await sendWaiting(bench, [nowhere], 'ignore')
      await assertStates(bench, { [dead]: 'dead', [ready]: 'ready' })
      assert.match((await bench.record(dead)).errors.at(-1)?.message ?? '', new RegExp(`${nowhere}.*does not exist`))
      assert.deepEqual(
        (await bench.store.links(ready)).map(({ id, job, state }) => [id, job, state]),
        [[nowhere, null, 'missing']],
      )
      const odd = await sendWaiting(bench, ['no id at all', "'; --"], 'ignore')
      await assertStates(bench, { [odd]: 'ready' })
    },
    'applies to a job that has already failed': async (bench) => {
      const first = await bench.sendOne()
      await die(bench, first)
      const dead = await sendWaiting(bench, [first], 'fail')
      const ready = await sendWaiting(bench, [first], 'rescue')
      await assertStates(bench, { [dead]: 'dead', [ready]: 'ready' })
    },
    'does not matter for an earlier failure if another policy lets the job continue': async (bench) => {
      const [one, two] = [bench.newId(), bench.newId()]
      const links = {
        ...waitsFor([]),
        waitsFor: [one, two].map((id, index) => ({ id, onFailure: index === 0 ? 'continue' : 'fail' }) as const),
      }
      const waiter = await bench.sendOne({ links })
      await assertStates(bench, { [waiter]: 'ready' })
      await succeed(bench, waiter)
      await assertStates(bench, { [waiter]: 'succeeded' })
    },
    'is reported briefly, however long the chain': async (bench) => {
      const ids = times(50, () => bench.newId())
      const links = (index: number) => ({ links: waitsFor([ids[index - 1] as string], 'fail', { root: 'chain' }) })
      await bench.send(...ids.map((id, index) => ({ id, ...(index > 0 && links(index)) })))
      await die(bench, ids[0] as string)
      const message = (await bench.record(ids.at(-1) as string)).errors.at(-1)?.message ?? ''
      assert.ok(message.length < 1_500, `a message of ${message.length} characters`)
      assert.match(message, /: it broke$/)
    },
    'propagates from job to job, however long the chain': async (bench) => {
      const ids = times(2_000, () => bench.newId())
      const links = (index: number) => ({ links: waitsFor([ids[index - 1] as string], 'fail', { root: 'chain' }) })
      await bench.send(...ids.map((id, index) => ({ id, ...(index > 0 && links(index)) })))
      await die(bench, ids[0] as string)
      const { counts } = await treeCounts(bench.store, 'chain')
      assert.deepEqual([counts.dead, counts.blocked], [1_999, 0])
    },
    'is applied separately to each dependency': async (bench) => {
      const [one, two] = (await bench.send({}, {})) as [string, string]
      const links = {
        ...waitsFor([]),
        waitsFor: [one, two].map((id, index) => ({ id, onFailure: index === 0 ? 'ignore' : 'skip' }) as const),
      }
      const waiter = await bench.sendOne({ links })
      await die(bench, one)
      await assertStates(bench, { [waiter]: 'blocked' })
      await die(bench, two)
      await assertStates(bench, { [waiter]: 'skipped' })
    },
    'no longer matters once the job has started': async (bench) => {
      const [one, two] = (await bench.send({}, {})) as [string, string]
      const waiter = await bench.sendOne({
        links: {
          ...waitsFor([]),
          waitsFor: [
            { id: one, onFailure: 'continue' },
            { id: two, onFailure: 'fail' },
          ],
        },
      })
      await die(bench, one)
      await assertStates(bench, { [waiter]: 'ready' })
      await die(bench, two)
      await assertStates(bench, { [waiter]: 'ready' })
      await succeed(bench, waiter)
      await assertStates(bench, { [waiter]: 'succeeded' })
    },
    'frees the unique key of the job that does not run': async (bench) => {
      const first = await bench.sendOne()
      const keyed = { uniqueKey: 'key', uniqueUntil: 'ever' } as const
      await sendWaiting(bench, [first], 'skip', keyed)
      assert.equal((await bench.backend.send([bench.envelope(keyed)]))[0]?.stored, false)
      await die(bench, first)
      assert.equal((await bench.backend.send([bench.envelope(keyed)]))[0]?.stored, true)
    },
    'is applied again when the job is retried': async (bench) => {
      const first = await bench.sendOne()
      const second = await sendWaiting(bench, [first])
      const third = await sendWaiting(bench, [second])
      await die(bench, first)
      await assertStates(bench, { [first]: 'dead', [second]: 'dead', [third]: 'dead' })
      assert.deepEqual(await bench.store.retry([third, second, first]), ['requeued', 'requeued', 'requeued'])
      await assertStates(bench, { [first]: 'ready', [second]: 'blocked', [third]: 'blocked' })
      await succeed(bench, first)
      await succeed(bench, second)
      await assertStates(bench, { [third]: 'ready' })
    },
    'does not keep a retried job from running alone': async (bench) => {
      const first = await bench.sendOne()
      const second = await sendWaiting(bench, [first])
      await die(bench, first)
      await bench.store.retry([second])
      await assertStates(bench, { [first]: 'dead', [second]: 'ready' })
    },
  },
}
