import { describe, expect, test } from 'vitest'
import { treadleClient } from '../../../src/client/browser.ts'
import { TreadleError } from '../../../src/core/errors.ts'
import { until } from '../../world.ts'
import { serving } from './serving.ts'

const tokens = [
  { role: 'admin', secret: 'of everything' },
  { role: 'operate', secret: 'of mail alone', jobs: 'mail/*' },
] as const
const as = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } })
const [admin, limited] = [as('of everything'), as('of mail alone')]

/** A visible job that waits for a visible one, which waits for a hidden one that fails with a secret. */
async function chain() {
  const served = await serving({ tokens })
  const { jobs } = served
  const hidden = jobs.define('payroll', async () => {
    throw new Error('salary of ada')
  })
  const visible = jobs.define('mail/a', async (_: object) => {})
  const first = await hidden.dispatch()
  const second = await visible.dispatch({}, { dependsOn: [first] })
  const third = await visible.dispatch({}, { dependsOn: [second] })
  const told = async (who: typeof admin) => {
    const paths = [second, third].flatMap(({ id }) => [`/jobs/${id}`, `/jobs/${id}/why`])
    const answers = await Promise.all([...paths, '/jobs', '/dead'].map((path) => served.ask('GET', path, who)))
    return answers.map(({ text }) => text).join('\n')
  }
  return { ...served, first, second, third, told }
}

test('a token that is limited to jobs is not told the names of paused queues without such jobs', async () => {
  const { ask, jobs, backend } = await serving({ tokens })
  await jobs.declare('mail/a').queue('post').dispatch()
  await jobs.declare('merger').queue('secret').dispatch()
  for (const queue of ['post', 'secret', 'empty']) await backend.store.setPaused({ queue }, true)
  const told = async (who: typeof admin) => {
    const { queues } = (await ask('GET', '/queues', who)).body as { queues: readonly { queue: string; paused: boolean }[] }
    const { pausedQueues } = (await ask('GET', '/stats', who)).body as { pausedQueues: readonly string[] }
    return [queues.filter(({ paused }) => paused).map(({ queue }) => queue), pausedQueues]
  }
  expect(await told(admin)).toEqual([
    ['empty', 'post', 'secret'],
    ['empty', 'post', 'secret'],
  ])
  expect(await told(limited)).toEqual([['post'], ['post']])
})

describe('a limited token is not told of the jobs of others', () => {
  test('that its jobs wait for', async () => {
    const { ask, first, second, third, told } = await chain()
    expect(await told(admin)).toContain(`"payroll\\" ${first.id} (ready)`)
    const text = await told(limited)
    for (const secret of ['payroll', first.id]) expect(text).not.toContain(secret)
    expect((await ask('GET', `/jobs/${second.id}/why`, limited)).body).toMatchObject({
      reasons: [{ rule: 'dependency', message: 'it waits for a job that it depends on: one that is hidden from you' }, {}],
    })
    expect((await ask('GET', `/jobs/${third.id}/why`, limited)).text).toContain(second.id)
  })

  test('that its jobs failed of, at whatever distance', async () => {
    const { ask, jobs, first, second, third, told } = await chain()
    await jobs.run()
    const everything = await told(admin)
    for (const secret of ['payroll', first.id, 'salary']) expect(everything).toContain(secret)
    const text = await told(limited)
    for (const secret of ['payroll', first.id, 'salary']) expect(text).not.toContain(secret)
    for (const { id } of [second, third]) {
      const shown = await ask('GET', `/jobs/${id}`, limited)
      expect(shown.body).toMatchObject({ errors: [{ message: 'It ended because of a job that this token may not see' }] })
    }
    expect((await ask('POST', `/jobs/${second.id}/retry`, limited)).text).not.toContain(first.id)
  })

  test('that its jobs created, and failed of', async () => {
    const { ask, jobs } = await serving({ tokens })
    const hidden = jobs.define('payroll', async () => {
      throw new Error('salary of ada')
    })
    let child = ''
    const parent = await jobs
      .define('mail/parent', async (_: unknown, ctx) => {
        child = (await ctx.dispatchChild(hidden)).id
      })
      .dispatch()
    await jobs.run()
    const told = async (who: typeof admin) => (await ask('GET', `/jobs/${parent.id}`, who)).text
    const everything = await told(admin)
    const text = await told(limited)
    for (const secret of ['payroll', child, 'salary']) {
      expect(everything).toContain(secret)
      expect(text).not.toContain(secret)
    }
    expect(text).toContain('It ended because of a job that this token may not see')
  })

  test('by a filter that would find their errors', async () => {
    const { ask, jobs, second } = await chain()
    await jobs.run()
    const found = async (where: string, who: typeof admin) => {
      const { body } = await ask('GET', `/jobs?where=${encodeURIComponent(where)}`, who)
      return (body as { jobs: readonly { id: string }[] }).jobs.map(({ id }) => id)
    }
    expect(await found('error:salary', admin)).toContain(second.id)
    expect(await found('error:salary', limited)).toEqual([])
    expect(await found('-error:salary', limited)).toContain(second.id)
  })

  test('that made its jobs', async () => {
    const { ask, jobs } = await serving({ tokens })
    const child = jobs.define('mail/child', async (_: object) => {})
    let made = ''
    const parent = await jobs
      .define('payroll', async (_: unknown, ctx) => {
        made = (await ctx.dispatchChild(child, {})).id
      })
      .dispatch()
    await jobs.run()
    expect((await ask('GET', `/jobs/${made}`, admin)).body).toMatchObject({ parent: parent.id, root: parent.id })
    expect((await ask('GET', `/jobs/${made}`, limited)).body).toMatchObject({ parent: null, root: null })
    expect((await ask('GET', '/jobs', limited)).text).not.toContain(parent.id)
  })

  test('by the events of its jobs', async () => {
    const { backend, jobs, first, url } = await chain()
    const told = (secret: string, types: string) => treadleClient({ url, token: secret }).events({ types, include: ['meta'] })
    const [all, own] = [told('of everything', 'job:dead'), told('of mail alone', 'job:dead,job:failed')]
    const texts = [all.next(), own.next()]
    await until(async () => JSON.parse((await backend.store.events?.wanted())?.[0] ?? '[]').length === 2)
    jobs.define('mail/forged', async () => {
      throw new TreadleError('RESULT_FORGED', `The result of job ${first.id} ("payroll") was changed`)
    })
    await jobs.dispatch('mail/forged', {}, { meta: { bedrock: { parent: first.id } } })
    await jobs.run()
    const [everything, seen] = (await Promise.all(texts)).map(({ value }) => JSON.stringify(value))
    for (const secret of ['payroll', first.id]) expect(everything).toContain(secret)
    for (const secret of ['payroll', first.id]) expect(seen).not.toContain(secret)
    expect(seen).toContain('It ended because of a job that this token may not see')
    await Promise.all([all.return(), own.return()])
  })

  test('nor of their workers, when its jobs find none', async () => {
    const { ask, jobs } = await serving({ tokens: [...tokens, { role: 'read', secret: 'of the post', queues: ['post'] }] })
    const letter = await jobs
      .define('letter', async () => {})
      .queue('post')
      .dispatch()
    const working = jobs.work({ queues: ['payroll'] })
    const reasons = async (who: typeof admin) => (await ask('GET', `/jobs/${letter.id}/why`, who)).text
    await until(async () => (await reasons(admin)).includes('the only running worker'))
    expect(await reasons(as('of the post'))).toContain('no worker is running')
    await jobs.stop()
    await working
  })

  test('while it still is told why its own jobs failed, and of those that they waited for', async () => {
    const { ask, jobs } = await serving({ tokens })
    const broken = jobs.define('mail/broken', async () => {
      throw new Error('no such mailbox')
    })
    const first = await broken.dispatch()
    const second = await jobs.define('mail/a', async (_: object) => {}).dispatch({}, { dependsOn: [first] })
    await jobs.run()
    const { text } = await ask('GET', `/jobs/${second.id}`, limited)
    for (const part of ['mail/broken', first.id, 'no such mailbox']) expect(text).toContain(part)
  })
})
