import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Alert, AlertRule } from '../../../src/app/alerts/alert-options.ts'
import { signatureOf } from '../../../src/app/alerts/webhook.ts'
import type { TreadleOptions } from '../../../src/app/treadle.ts'
import { PermanentError } from '../../../src/core/errors.ts'
import { until, type World, world } from '../../world.ts'

interface Watched extends World {
  readonly sent: Alert[]
  /** Their states, by name. */
  states(): readonly string[]
}

const every = '30s'

function watching(rules: readonly AlertRule[], options: TreadleOptions = {}): Watched {
  const sent: Alert[] = []
  const inside = world({ alerts: { rules, every, notify: (alert) => sent.push(alert) }, ...options })
  inside.jobs.define('idle', (_: null) => {})
  return { ...inside, sent, states: () => sent.map(({ name, state }) => `${name} ${state}`) }
}

/** A worker that takes nothing, so that only its alerts are at work. */
async function working({ jobs, clock }: World, queues: readonly string[] = ['nothing']): Promise<() => Promise<void>> {
  const done = jobs.work({ queues, scheduler: false })
  await clock.advance(1)
  return async () => {
    const stopping = jobs.stop()
    await clock.advance(60_000)
    await Promise.all([stopping, done])
  }
}

describe('alerts', () => {
  test('are sent once when they begin, and once when they are over', async () => {
    const program = watching([{ rule: 'deadJobs', above: 1 }])
    const { jobs, clock, sent, states, backend } = program
    const failing = jobs.define('failing', (_: string) => Promise.reject(new PermanentError('a secret message')))
    const runs = await jobs.dispatchMany(failing, ['a secret payload', 'another', 'one more'])
    await jobs.run()
    const stop = await working(program)
    await clock.advance(300_000)
    expect(states()).toEqual(['deadJobs firing'])
    await backend.store.remove({ state: 'dead', ids: runs.map(({ id }) => id), limit: 10 })
    await clock.advance(300_000)
    expect(states()).toEqual(['deadJobs firing', 'deadJobs resolved'])
    expect(sent[0]?.text).toBe('deadJobs: 3 jobs are dead (more than 1)')
    expect(sent[1]?.text).toMatch(/^deadJobs: over after \d+m/)
    expect(sent[1]?.since).toBe(sent[0]?.at)
    expect(JSON.stringify(sent)).not.toContain('secret')
    await stop()
  })

  test('are looked at by one process at a time, and the next one goes on where it ended', async () => {
    const rules: readonly AlertRule[] = [{ rule: 'deadJobs' }]
    const first = watching(rules)
    const sent: Alert[] = []
    const second = first.other({ alerts: { rules, every, notify: (alert) => sent.push(alert) } })
    second.jobs.define('idle', (_: null) => {})
    const failing = first.jobs.define('failing', (_: null) => Promise.reject(new PermanentError('no')))
    const { id } = await failing.dispatch(null)
    await first.jobs.run()
    const stopFirst = await working(first)
    const stopSecond = await working(second)
    await first.clock.advance(120_000)
    expect(first.states()).toEqual(['deadJobs firing'])
    expect(sent).toEqual([])
    await stopFirst()
    await first.clock.advance(120_000)
    expect(sent).toEqual([])
    await first.backend.store.remove({ state: 'dead', ids: [id], limit: 1 })
    await first.clock.advance(120_000)
    expect(sent.map(({ state }) => state)).toEqual(['resolved'])
    expect(first.states()).toEqual(['deadJobs firing'])
    await stopSecond()
  })

  test('what could not be delivered is sent again', async () => {
    let failures = 2
    const sent: Alert[] = []
    const notify = (alert: Alert) => {
      if (failures-- > 0) throw new Error('the pager is away')
      sent.push(alert)
    }
    const program = world({ alerts: { rules: [{ rule: 'oldestAge', above: '1m' }], every, notify } })
    const waiting = program.jobs.define('waiting', (_: null) => {})
    await waiting.dispatch(null)
    const stop = await working(program)
    await program.clock.advance(300_000)
    expect(sent.map(({ state }) => state)).toEqual(['firing'])
    expect(program.log.filter((line) => line.includes('could not be delivered'))).toHaveLength(2)
    await stop()
  })

  test('a webhook that has an alert does not get it again because notify fails', async () => {
    let [posts, calls] = [0, 0]
    const server = createServer((_, response) => {
      posts++
      response.end()
    }).listen(0, '127.0.0.1')
    onTestFinished(() => void server.close())
    await new Promise((resolve) => server.once('listening', resolve))
    const webhook = { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, timeout: '1h' }
    const notify = () => {
      calls++
      if (calls < 3) throw new Error('The pager is out of order')
    }
    const program = world({ alerts: { rules: [{ rule: 'deadJobs' }], every, webhook, notify } })
    const { jobs, clock } = program
    await jobs.dispatch(
      jobs.define('failing', (_: null) => Promise.reject(new PermanentError('no'))),
      null,
    )
    await jobs.run()
    jobs.define('idle', (_: null) => {})
    const stop = await working(program)
    for (const wanted of [1, 2, 3]) {
      await clock.advance(30_000)
      await until(() => calls >= wanted)
    }
    await clock.advance(120_000)
    expect([posts, calls]).toEqual([1, 3])
    await stop()
  })

  test('a notify that never returns keeps no other alert back', async () => {
    const heard: string[] = []
    const notify = ({ name }: Alert) => {
      heard.push(name)
      return name === 'first' ? new Promise(() => {}) : undefined
    }
    const rules = [{ rule: 'deadJobs', name: 'first' } as const, { rule: 'deadJobs', name: 'second' } as const]
    const program = world({ alerts: { rules, every, notify } })
    const { jobs, clock } = program
    await jobs.dispatch(
      jobs.define('failing', (_: null) => Promise.reject(new PermanentError('no'))),
      null,
    )
    await jobs.run()
    const stop = await working(program)
    await clock.advance(120_000)
    expect(new Set(heard)).toEqual(new Set(['first', 'second']))
    expect(heard.filter((name) => name === 'second')).toHaveLength(1)
    await stop()
  })

  test('the age of the oldest counts for queues and jobs that are not paused', async () => {
    const program = watching([{ rule: 'oldestAge', above: '2m', queue: 'mail' }])
    const { jobs, clock, sent, backend, states } = program
    const mail = jobs.define('mail', (_: null) => {}).queue('mail')
    await mail.dispatch(null)
    await mail.dispatch(null, { queue: 'other' })
    const stop = await working(program)
    await clock.advance(100_000)
    expect(states()).toEqual([])
    await clock.advance(100_000)
    expect(sent[0]?.text).toContain('the oldest ready job of "mail" in the queue "mail" has waited')
    await backend.store.setPaused({ queue: 'mail' }, true)
    await clock.advance(60_000)
    expect(states()).toEqual(['oldestAge mail firing', 'oldestAge mail resolved'])
    await backend.store.setPaused({ job: 'mail' }, true)
    await backend.store.setPaused({ queue: 'mail' }, false)
    await clock.advance(60_000)
    expect(states()).toHaveLength(2)
    await stop()
  })

  test('a failure rate needs enough ends, and counts those that failed for good', async () => {
    const program = watching([{ rule: 'failureRate', above: 0.2, over: '5m', atLeast: 10, job: 'flaky' }])
    const { jobs, clock, sent, states } = program
    const flaky = jobs.define('flaky', (fails: boolean) => {
      if (fails) throw new PermanentError('no')
    })
    const stop = await working(program, ['default'])
    await clock.advance(60_000)
    await jobs.dispatchMany(flaky, [true, true, true])
    await clock.advance(60_000)
    expect(states()).toEqual([])
    await jobs.dispatchMany(flaky, [true, ...Array.from({ length: 6 }, () => false)])
    await clock.advance(60_000)
    expect(sent[0]?.text).toContain('40 % of the 10 jobs of "flaky" that ended in the last 5m failed for good')
    await clock.advance(600_000)
    expect(states()).toEqual(['failureRate flaky firing', 'failureRate flaky resolved'])
    await stop()
  })

  test('a queue without a worker is reported after a minute', async () => {
    const program = watching([{ rule: 'noWorker', queue: 'mail' }])
    const { clock, states } = program
    const stop = await working(program)
    await clock.advance(50_000)
    expect(states()).toEqual([])
    await clock.advance(60_000)
    expect(states()).toEqual(['noWorker mail firing'])
    const other = program.other()
    other.jobs.define('idle', (_: null) => {})
    const stopOther = await working(other, ['mail'])
    await clock.advance(60_000)
    expect(states()).toEqual(['noWorker mail firing', 'noWorker mail resolved'])
    await stopOther()
    await stop()
  })

  test('a schedule that nobody follows any more is missed', async () => {
    const program = watching([{ rule: 'scheduleMissed', late: '5m' }])
    const { jobs, clock, sent } = program
    jobs.define('digest', () => {}).everyTenMinutes()
    await jobs.run()
    const stop = await working(program)
    await clock.advance(60 * 60_000)
    expect(sent.map(({ state }) => state)).toEqual(['firing'])
    expect(sent[0]?.text).toMatch(/^scheduleMissed: the schedule "digest" should have run at \d{4}-/)
    await stop()
  })
})

interface Received {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

async function receiver(answers: readonly number[]): Promise<{ readonly url: string; readonly received: Received[] }> {
  const received: Received[] = []
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (part) => {
      body += part
    })
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body })
      const status = answers[Math.min(received.length, answers.length) - 1] ?? 200
      response.writeHead(status, status === 307 ? { location: '/elsewhere' } : {}).end()
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, received }
}

describe('the webhook of alerts', () => {
  const rules: readonly AlertRule[] = [{ rule: 'noWorker', queue: 'mail', for: 0, name: 'no mail worker' }]

  test('gets the alert, signed, and again after a failure that may pass', async () => {
    const { url, received } = await receiver([503, 200])
    const secret = 'of this test alone'
    const program = world({
      alerts: { rules, every, webhook: { url: `${url}/hook`, secret, headers: { 'x-team': 'jobs' }, timeout: '7d' } },
    })
    program.jobs.define('idle', (_: null) => {})
    const stop = await working(program)
    await until(async () => {
      await program.clock.advance(1_000)
      return received.length === 2
    })
    const { path, headers, body } = received[1] as Received
    expect(path).toBe('/hook')
    expect(headers['content-type']).toBe('application/json')
    expect(headers['x-team']).toBe('jobs')
    const seconds = Number(/^t=(\d+),/.exec(String(headers['x-treadle-signature']))?.[1])
    expect(headers['x-treadle-signature']).toBe(signatureOf(body, secret, seconds))
    expect(JSON.parse(body)).toMatchObject({ name: 'no mail worker', rule: 'noWorker', state: 'firing' })
    expect(body).not.toContain(secret)
    await stop()
  })

  test.each([
    ['a redirection is not followed', 307],
    ['a refusal is not asked again at once', 403],
  ])('%s, and the log names the host alone', async (_, status) => {
    const { url, received } = await receiver([status])
    const program = world({ alerts: { rules, every: '7d', webhook: { url: `${url}/a-secret-path`, timeout: '7d' } } })
    program.jobs.define('idle', (_: null) => {})
    const stop = await working(program)
    const failed = () => program.log.find((line) => line.includes('could not be delivered'))
    await until(async () => {
      await program.clock.advance(100)
      return failed() !== undefined
    })
    expect(received.map(({ path }) => path)).toEqual(['/a-secret-path'])
    expect(failed()).toContain(`answered ${status}`)
    expect(program.log.join('\n')).not.toContain('secret')
    await stop()
  })
})

describe('the rules in a config', () => {
  test.each([
    [{}, 'alerts: rules must be a list of rules'],
    [{ rules: [{ rule: 'deadJobs' }] }, 'give a webhook or notify'],
    [{ rules: [{ rule: 'deadJob' }], webhook: 'http://127.0.0.1/' }, 'rules[0].rule must be one of failureRate'],
    [{ rules: [{ rule: 'failureRate', above: 5 }], webhook: 'http://127.0.0.1/' }, 'must be a fraction from 0 to below 1'],
    [{ rules: [{ rule: 'oldestAge' }], webhook: 'http://127.0.0.1/' }, 'rules[0].above must be'],
    [{ rules: [{ rule: 'noWorker', job: 'a' }], webhook: 'http://127.0.0.1/' }, 'unknown'],
    [{ rules: [{ rule: 'deadJobs' }], webhook: 'file:///etc/passwd' }, 'webhook.url must be an http or https address'],
    [{ rules: [{ rule: 'deadJobs' }, { rule: 'deadJobs' }], webhook: 'http://127.0.0.1/' }, 'two rules are called "deadJobs"'],
    [{ rules: [{ rule: 'deadJobs' }], every: '1ms', notify: () => {} }, 'every must be at least 1s'],
  ])('%j is refused', (alerts, message) => {
    expect(() => world({ alerts: alerts as never })).toThrow(message)
  })
})
