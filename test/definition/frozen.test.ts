import { describe, expect, it } from 'vitest'
import { definitionDefaults, JobDefinition } from '../../src/definition/definition.ts'
import { parseCron } from '../../src/scheduling/calendar/cron/cron.ts'
import { world } from '../world.ts'

const everyMinute = parseCron('* * * * *', 'UTC')

function everyPart(value: unknown, path = 'fields'): readonly [string, object][] {
  if (typeof value !== 'object' || value === null) return []
  const parts = Object.entries(value).flatMap(([name, member]) => everyPart(member, `${path}.${name}`))
  return [[path, value], ...parts]
}

describe('a definition', () => {
  it('is frozen as deep as it goes', () => {
    const { fields } = new JobDefinition({ ...definitionDefaults, job: 'mail', name: 'mail', handler: null })
      .withMeta({ a: { b: [{ c: 1 }] } })
      .withArgs({ to: ['ada', { cc: ['bob'] }] })
      .withSchedule(everyMinute)
      .withDependsOn('other', { job: 'third', onFailure: 'skip' })
      .withEnvironments('production')
      .withAfter('first')
      .withKeep({ dead: 5 })
      .withRetry({ strategy: 'fixed', baseMs: 5, factor: 2, maxMs: 10, jitter: 'none' })
      .withRate({ limit: 5, perMs: 1_000 })
    const loose = everyPart(fields).filter(([path, part]) => !path.startsWith('fields.schedule') && !Object.isFrozen(part))
    expect(loose.map(([path]) => path)).toEqual([])
  })

  it('is not changed by whoever changes what it was made of', () => {
    const given = {
      args: { to: ['ada'] },
      meta: { trace: { id: 7 } },
      retry: { strategy: 'fixed' as const, baseMs: 5, factor: 2, maxMs: 10, jitter: 'none' as const },
      environments: ['production'],
      after: ['first'],
      keep: { dead: 5 },
      dependsOn: [{ job: 'other', onFailure: 'skip' as const }],
    }
    const before = structuredClone(given)
    const { fields } = new JobDefinition({
      ...definitionDefaults,
      job: 'mail',
      name: 'mail',
      handler: null,
      ...given,
      schedule: everyMinute,
    })
    given.args.to.push('mallory')
    given.meta.trace.id = 8
    Object.assign(given.retry, { baseMs: Number.NaN })
    given.environments.push('test')
    given.after.length = 0
    given.keep.dead = 0
    Object.assign(given.dependsOn[0] as object, { job: 'mallory' })
    expect(fields).toMatchObject(before)
  })

  it('sends the args that it was given, whatever became of them since', async () => {
    const { jobs, record } = world()
    const args = { to: ['ada'] }
    const job = jobs.define('mail', async () => {}).args(args as never)
    args.to.push('mallory')
    const run = await job.dispatch()
    expect((await record(run)).payload).toBe('{"to":["ada"]}')
  })

  it('args that are not JSON are still refused by the dispatch', async () => {
    const { jobs } = world()
    const job = jobs.define('mail', async () => {}).args({ at: Number.NaN } as never)
    await expect(job.dispatch()).rejects.toMatchObject({ code: 'PAYLOAD_NOT_JSON' })
  })
})
