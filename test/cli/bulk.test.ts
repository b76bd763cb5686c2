import { describe, expect, it } from 'vitest'
import { HostedProject } from './hosted-project.ts'
import { jobFiles } from './project.ts'

interface Sent {
  readonly id: string
}

const sum = '{"a":1,"b":2}'

async function send(project: HostedProject, ...more: readonly string[]): Promise<string> {
  return ((await project.json(['send', 'add', sum, ...more])) as Sent).id
}

async function stateOf(project: HostedProject, id: string): Promise<unknown> {
  return ((await project.json(['show', id])) as { readonly state: unknown }).state
}

describe('acting on all jobs that match', () => {
  it('cancels them after it was said how many there are, and no others', async () => {
    const project = new HostedProject(jobFiles)
    const mail = [await send(project, '--queue', 'mail'), await send(project, '--queue', 'mail', '--delay', '1h')]
    const other = await send(project)
    const refused = await project.call(['cancel', '--all', '--queue', 'mail'])
    expect(refused).toMatchObject({ code: 2 })
    expect(refused.err).toContain('add --yes to skip the confirmation, or --dry-run')
    expect(await project.call(['cancel', '--all', '--queue', 'mail', '--dry-run'])).toMatchObject({
      code: 0,
      out: '2 jobs would be cancelled\n',
    })
    expect(await project.call(['cancel', '--all', '--queue', 'mail', '--yes'])).toMatchObject({
      code: 0,
      out: 'cancelled 2 jobs\n',
    })
    for (const id of mail) expect(await stateOf(project, id)).toBe('cancelled')
    expect(await stateOf(project, other)).toBe('ready')
  })

  it('goes through thousands of them page by page, also where they leave the list as they are met', async () => {
    const project = new HostedProject({
      ...jobFiles,
      'jobs/many.mjs': `import { jobs } from 'treadle'
export default jobs.define('many', async () => jobs.declare('other').dispatchMany(Array.from({ length: 1_201 }, () => null), { delay: '1h' }))`,
    })
    await project.call(['send', 'many'])
    await project.call(['run', '--job', 'many', '--no-scheduler'])
    expect(await project.json(['promote', '--all', '--job', 'other', '--dry-run'])).toEqual({ matching: 1_201 })
    expect(await project.json(['cancel', '--all', '--job', 'other', '--yes'])).toEqual({ cancelled: 1_201, left: {} })
    expect(await project.json(['delete', '--all', '--job', 'other', '--yes'])).toEqual({ deleted: 1_201, left: {} })
    expect(await project.json(['list', '--job', 'other'])).toEqual([])
  })

  it('a job may be a pattern, and narrows what a filter finds', async () => {
    const project = new HostedProject(jobFiles)
    for (const job of ['mail-welcome', 'mail-bye', 'report']) await project.call(['send', job, '--force'])
    const listed = (await project.json(['list', '--job', 'mail-*'])) as readonly { readonly job: string }[]
    expect(listed.map(({ job }) => job)).toEqual(['mail-bye', 'mail-welcome'])
    expect(await project.json(['list', '--job', 'mail-*', '--where', '-job:mail-bye'])).toHaveLength(1)
    expect(await project.json(['cancel', '--all', '--job', 'mail-*', '--dry-run'])).toEqual({ matching: 2 })
    expect(await project.json(['cancel', '--all', '--job', 'mail-*', '--yes'])).toEqual({ cancelled: 2, left: {} })
    expect(await project.json(['list', '--state', 'ready'])).toHaveLength(1)
    expect((await project.call(['pause', '--job', 'mail-x*'])).err).toContain('A pattern pauses nothing')
  })

  it('a filter may name the states of the jobs that are put back', async () => {
    const project = new HostedProject(jobFiles)
    const id = await send(project, '--tag', 'vip', '--delay', '1h')
    await project.call(['cancel', id])
    expect(await project.json(['retry', '--all', '--tag', 'vip', '--dry-run'])).toEqual({ matching: 0 })
    expect(await project.json(['retry', '--all', '--where', 'state:cancelled tag:vip', '--yes'])).toEqual({
      retried: 1,
      left: {},
    })
  })

  it('a single job is a tree of its own, and too short an id is told so', async () => {
    const project = new HostedProject(jobFiles)
    const id = await send(project)
    expect((await project.call(['tree', id])).out).toContain('0 of 1 job has finished (1 ready)')
    for (const command of ['show', 'cancel', 'why']) {
      const { code, err } = await project.call([command, id.slice(0, 6)])
      expect([command, code, err]).toEqual([
        command,
        2,
        expect.stringContaining('give at least the first 8 characters of the id'),
      ])
    }
  })

  it('means the jobs of one group, and of one state', async () => {
    const project = new HostedProject(jobFiles)
    const ada = await send(project, '--group', 'ada')
    const later = await send(project, '--group', 'ada', '--delay', '1h')
    const bob = await send(project, '--group', 'bob')
    expect(await project.json(['cancel', '--all', '--group', 'ada', '--state', 'scheduled', '--yes'])).toEqual({
      cancelled: 1,
      left: {},
    })
    expect(await Promise.all([ada, later, bob].map((id) => stateOf(project, id)))).toEqual(['ready', 'cancelled', 'ready'])
  })

  it.each([
    [['cancel'], 'give either the ids of jobs or --all'],
    [['cancel', '0190d1a2-0000-7000-8000-000000000000', '--all'], 'give either the ids of jobs or --all'],
    [['retry', '0190d1a2-0000-7000-8000-000000000000', '--job', 'add'], 'go with --all'],
    [
      ['delete', '--all', '--state', 'ready', '--yes'],
      '"delete" is for jobs that are succeeded, dead, cancelled, skipped, not ready',
    ],
    [['promote', '--all', '--state', 'running', '--yes'], '"run" is for jobs that are scheduled, not running'],
    [['reschedule', '--all', '--yes'], 'give either --at or --in'],
  ])('%j is refused', async (words, message) => {
    const project = new HostedProject(jobFiles)
    await send(project)
    const answer = await project.call(words)
    expect(answer.code).toBe(2)
    expect(answer.err).toContain(message)
  })
})

describe('times', () => {
  it('a scheduled job is promoted, and runs now', async () => {
    const project = new HostedProject(jobFiles)
    const id = await send(project, '--delay', '1h')
    expect(await project.call(['promote', id])).toMatchObject({ code: 0, out: `${id}  promoted\n` })
    await project.call(['run', '--no-scheduler'])
    expect(await stateOf(project, id)).toBe('succeeded')
    expect(await project.call(['promote', id])).toMatchObject({ code: 1, out: `${id}  left alone: it has already finished\n` })
  })

  it('a waiting job is moved to another time', async () => {
    const project = new HostedProject(jobFiles)
    const id = await send(project)
    expect(await project.call(['reschedule', id, '--at', '2036-06-10T09:00:00Z'])).toMatchObject({
      code: 0,
      out: `${id}  rescheduled\n`,
    })
    expect(await project.json(['show', id])).toMatchObject({ state: 'scheduled', runAt: '2036-06-10T09:00:00.000Z' })
    expect(await project.json(['reschedule', id, '--in', '10m'])).toEqual([{ id, outcome: 'moved' }])
  })
})

describe('ids', () => {
  it('the first characters of an id are enough, unless several jobs begin with them', async () => {
    const project = new HostedProject(jobFiles)
    let id = await send(project)
    expect(await project.json(['show', id.slice(0, 13)])).toMatchObject({ id })
    let another = await send(project)
    // The first eight characters change about once a minute, perhaps between the two.
    while (id.slice(0, 8) !== another.slice(0, 8)) [id, another] = [another, await send(project)]
    let common = 8
    while (id[common] === another[common]) common++
    const ambiguous = await project.call(['show', id.slice(0, common)])
    expect(ambiguous).toMatchObject({ code: 4 })
    expect(ambiguous.err).toContain(id)
    expect(ambiguous.err).toContain(another)
    expect(ambiguous.err).toContain('Give more characters of the id')
    expect(await project.json(['cancel', id.slice(0, common + 1)])).toEqual([{ id, outcome: 'cancelled' }])
    expect(await project.json(['why', id.slice(0, common + 1)])).toMatchObject({ id })
    expect(await project.call(['show', 'nowhere'])).toMatchObject({ code: 4 })
  })
})

describe('treadle prune, reap and unlock', () => {
  it('deletes what ended longer ago than it is told, whatever the config says', async () => {
    const project = new HostedProject(jobFiles)
    const id = await send(project)
    await project.call(['run', '--no-scheduler'])
    expect(await project.json(['prune', '--older-than', '1h'])).toEqual({ deleted: 0 })
    expect(await project.json(['prune', '--older-than', '1h', '--dry-run'])).toEqual({ matching: 0 })
    expect(await project.json(['prune', '--older-than', '0ms', '--dry-run'])).toEqual({ matching: 1 })
    expect(await project.call(['prune', '--dry-run'])).toMatchObject({ code: 0, out: '0 ended jobs would be deleted\n' })
    expect(await project.json(['prune', '--older-than', '0ms'])).toEqual({ deleted: 1 })
    expect(await project.call(['show', id])).toMatchObject({ code: 4 })
  })

  it('says that no job had lost its worker, and that nobody holds the lock', async () => {
    const project = new HostedProject(jobFiles)
    await send(project)
    expect(await project.call(['reap'])).toMatchObject({ code: 0, out: 'returned 0 jobs to the queue\n' })
    expect(await project.call(['unlock'])).toMatchObject({ code: 0, out: 'no scheduler holds the lock\n' })
  })
})
