import { describe, expect, it } from 'vitest'
import { HostedProject } from './hosted-project.ts'

const files = {
  'treadle.config.mjs': "export default { url: 'sqlite:jobs.db', jobs: 'jobs' }\n",
  'jobs/flow.mjs': `
import { jobs } from 'treadle'
const leaf = jobs.define('leaf', () => 1)
const bad = jobs.define('bad', () => { throw new Error('it broke') })
jobs.define('trunk', async (_, ctx) => { await ctx.dispatchChild(leaf, null, { delay: '1h' }) })
jobs.define('start', async () => (await jobs.chain([bad.step(), leaf.step()])).id)
`,
}

interface Shown {
  readonly id: string
  readonly result: string
}

describe('the command line shows and stops workflows', () => {
  it('tree draws children below their parents, show tells what a job waits for, and cancel --tree ends all', async () => {
    const project = new HostedProject(files)
    const { id } = (await project.json(['send', 'trunk'])) as Shown
    await project.call(['run', '--no-scheduler'])
    const drawn = (await project.call(['tree', id])).out
    expect(drawn).toMatch(
      new RegExp(
        `^1\\. trunk blocked ${id}\\n└─ 2\\. leaf scheduled .*\\n0 of 2 jobs have finished \\(1 scheduled, 1 blocked\\)\\n$`,
      ),
    )
    const shown = (await project.call(['show', id])).out
    expect(shown).toMatch(/waits for {4}scheduled child leaf#1 /)
    expect(shown).toContain('workflow     0 of 2 jobs have finished')
    const [child] = (await project.json(['list', '--job', 'leaf'])) as Shown[]
    expect((await project.call(['show', child?.id as string])).out).toContain(`parent       ${id}`)
    expect(await project.json(['tree', child?.id as string])).toMatchObject({
      root: id,
      total: 2,
      jobs: [{ job: 'leaf' }, { links: [{ key: 'leaf#1' }] }],
    })
    expect(await project.json(['cancel', id, '--tree'])).toEqual([{ id, cancelled: 2, requested: 0, ended: 0 }])
    expect(await project.call(['cancel', id, '--tree'])).toMatchObject({ code: 1 })
    expect(await project.call(['cancel', '0190d1a2-0000-7000-8000-000000000000', '--tree'])).toMatchObject({ code: 4 })
  })

  it('a workflow is found by its own id, and who waits for whom is said by numbers', async () => {
    const project = new HostedProject(files)
    const { id } = (await project.json(['send', 'start'])) as Shown
    await project.call(['run', '--no-scheduler'])
    const { result } = (await project.json(['show', id])) as Shown
    const drawn = (await project.call(['tree', result])).out
    expect(drawn).toMatch(/1\. bad dead .*\n2\. leaf dead .* after 1\n2 of 2 jobs have finished \(2 dead\)/)
    expect((await project.call(['tree', 'nothing'])).code).toBe(4)
  })
})
