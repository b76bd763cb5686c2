import { describe, expect, test } from 'vitest'
import { treadle } from '../../src/app/treadle.ts'
import { PermanentError } from '../../src/core/errors.ts'
import { systemClock } from '../../src/core/time/clock.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import { mostPairs } from '../../src/telemetry/metrics/job-metrics.ts'
import { aborted, gate, until, type World, world } from '../world.ts'
import { parseExposition, sampleOf } from './exposition-parser.ts'

async function metricsOf({ jobs }: Pick<World, 'jobs'>) {
  return parseExposition(await jobs.metrics.text())
}

describe('the metrics of a program', () => {
  test('count what is dispatched, started and ended, by queue, job and outcome', async () => {
    const program = world()
    const { jobs, clock } = program
    jobs.metrics.start()
    const sound = jobs.define('sound', (_: number) => {})
    const failing = jobs.define('failing', () => Promise.reject(new PermanentError('never'))).queue('mail')
    await sound.dispatch(0)
    await jobs.dispatchMany(sound, [1, 2, 3])
    await failing.dispatch()
    await clock.advance(4_000)
    await jobs.run()
    const metrics = await metricsOf(program)
    const pair = { queue: 'default', job: 'sound' }
    const dispatched = 4
    expect(sampleOf(metrics, 'treadle_jobs_dispatched_total', pair)).toBe(dispatched)
    expect(sampleOf(metrics, 'treadle_jobs_started_total', pair)).toBe(dispatched)
    expect(sampleOf(metrics, 'treadle_jobs_ended_total', { ...pair, outcome: 'succeeded' })).toBe(dispatched)
    expect(sampleOf(metrics, 'treadle_jobs_ended_total', { queue: 'mail', job: 'failing', outcome: 'dead' })).toBe(1)
    // Alerts ask for the increase of these, and Prometheus sees none in a counter that begins above 0.
    for (const outcome of ['retried', 'dead'])
      expect(sampleOf(metrics, 'treadle_jobs_ended_total', { ...pair, outcome }), outcome).toBe(0)
    expect(sampleOf(metrics, 'treadle_job_wait_seconds_sum', { queue: 'mail', job: 'failing' })).toBe(4)
    expect(sampleOf(metrics, 'treadle_job_run_seconds_count', pair)).toBe(dispatched)
    expect(sampleOf(metrics, 'treadle_job_settle_seconds_count', pair)).toBe(dispatched)
    expect(sampleOf(metrics, 'treadle_backend_call_seconds_count', { call: 'lease' })).toBeGreaterThan(0)
    expect(sampleOf(metrics, 'treadle_backend_call_seconds_count', { call: 'send' })).toBeGreaterThan(0)
  })

  test('tell the depth and the age of the oldest by queue, and which is paused', async () => {
    const program = world()
    const { jobs, clock, backend } = program
    const mail = jobs.define('mail', (_: null) => {}).queue('mail')
    await mail.dispatch(null)
    await clock.advance(90_000)
    await mail.dispatch(null)
    await mail.dispatch(null, { delay: '1h' })
    await backend.store.setPaused({ queue: 'mail' }, true)
    const metrics = await metricsOf(program)
    const queue = { backend: 'default', queue: 'mail' }
    expect(sampleOf(metrics, 'treadle_queue_jobs', { ...queue, state: 'ready' })).toBe(2)
    expect(sampleOf(metrics, 'treadle_queue_jobs', { ...queue, state: 'scheduled' })).toBe(1)
    expect(sampleOf(metrics, 'treadle_queue_oldest_seconds', queue)).toBe(90)
    expect(sampleOf(metrics, 'treadle_queue_paused', queue)).toBe(1)
    expect(sampleOf(metrics, 'treadle_queue_up', { backend: 'default' })).toBe(1)
  })

  test('a job that another worker has by now is a lost lease', async () => {
    const program = world()
    const { jobs, clock, backend } = program
    jobs.metrics.start()
    const begun = gate()
    const slow = jobs.define('slow', async (_, { signal }) => {
      begun.open()
      await aborted(signal)
    })
    const { id } = await slow.dispatch()
    const working = jobs.work()
    await begun.opened
    const [lease] = await backend.store.leases({ ids: [id] })
    await backend.reap(10, [lease?.owner as string])
    await clock.advance(60_000)
    await until(async () => sampleOf(await metricsOf(program), 'treadle_leases_lost_total', { job: 'slow' }) === 1)
    void jobs.stop({ abort: true })
    await clock.advance(60_000)
    await working
  })

  test('tell of the worker of this process while it works', async () => {
    const program = world()
    const { jobs, clock } = program
    const begun = gate()
    const done = gate()
    jobs.define('held', async () => {
      begun.open()
      await done.opened
    })
    await jobs.dispatch('held' as never)
    const working = jobs.work({ concurrency: 7 })
    await begun.opened
    const metrics = await metricsOf(program)
    expect(sampleOf(metrics, 'treadle_worker_running_jobs')).toBe(1)
    expect(sampleOf(metrics, 'treadle_worker_concurrency')).toBe(7)
    expect(sampleOf(metrics, 'treadle_breaker_state', { state: 'closed' })).toBe(1)
    expect(sampleOf(metrics, 'treadle_breaker_state', { state: 'open' })).toBe(0)
    done.open()
    const stopping = jobs.stop()
    await clock.advance(60_000)
    await Promise.all([working, stopping])
  })

  test('names that a program makes up do not fill whatever collects them: the rest is counted as other', async () => {
    const program = world()
    const { jobs } = program
    jobs.metrics.start()
    const many = jobs.define('many', (_: null) => {})
    for (let at = 0; at < mostPairs + 20; at++) await many.dispatch(null, { queue: `customer-${at}` })
    const metrics = await metricsOf(program)
    const dispatched = metrics.get('treadle_jobs_dispatched_total')?.samples ?? []
    expect(dispatched).toHaveLength(mostPairs + 1)
    expect(sampleOf(metrics, 'treadle_jobs_dispatched_total', { queue: 'other', job: 'other' })).toBe(20)
    const queues = new Set(metrics.get('treadle_queue_jobs')?.samples.map(({ labels }) => labels.queue))
    expect(queues.size).toBe(100)
    const ready = metrics.get('treadle_queue_jobs')?.samples.filter(({ labels }) => labels.state === 'ready') ?? []
    expect(ready.reduce((sum, { value }) => sum + value, 0)).toBe(mostPairs + 20)
  })

  test('a queue that does not answer is reported as down, and the rest as always', async () => {
    const backend = openMemory({ clock: systemClock })
    await using jobs = treadle('memory:', { backend })
    await jobs.open()
    backend.store.counts = () => Promise.reject(new Error('the server is gone'))
    const metrics = parseExposition(await jobs.metrics.text())
    expect(sampleOf(metrics, 'treadle_queue_up')).toBe(0)
    expect(sampleOf(metrics, 'treadle_build_info')).toBe(1)
  })
})
