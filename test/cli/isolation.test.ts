import { describe, expect, it } from 'vitest'
import { configText, Project } from './project.ts'

const jobText = (instance: string) => `${instance}
interface Place { readonly threadId: number }
import { threadId } from 'node:worker_threads'
const told = jobs.define('told', (place: Place) => place)
for (const kind of ['thread', 'process'] as const) {
  jobs.define(kind, async (): Promise<Place> => {
    const run = await told.dispatch({ threadId })
    return { threadId, pid: process.pid, runs: run.id.length } as Place
  }).isolate(kind)
}
`

describe('a project with isolated jobs', () => {
  it('in TypeScript: its isolates load its config and its job files, and dispatch into the same queue', async () => {
    const project = new Project({ 'treadle.config.ts': configText, 'jobs/all.ts': jobText(`import { jobs } from 'treadle'`) })
    await expectIsolated(project)
  })

  it('that exports its own instance: finds its files from where the config is', async () => {
    const config = `${jobText(`import { treadle } from 'treadle'\nconst jobs = treadle('sqlite:jobs.db')`)}\nexport default jobs`
    await expectIsolated(new Project({ 'treadle.config.ts': config }), 'deep/below')
  })

  it('is checked for modules that are not there', async () => {
    const text = `import { jobs } from 'treadle'\njobs.define('lost', () => {}).isolate('thread', { from: '/no/such/file.ts' })`
    const project = new Project({ 'treadle.config.ts': configText, 'jobs/all.ts': text })
    const { code, out, err } = await project.call(['check'])
    expect(code).toBe(1)
    expect(out + err).toContain('Job "lost": the module that its isolate loads does not exist: /no/such/file.ts')
  })
})

async function expectIsolated(project: Project, folder = '.'): Promise<void> {
  const sent = await Promise.all(['thread', 'process'].map((job) => project.json(['send', job]) as Promise<{ id: string }>))
  const ran = await project.call(['run'], { folder })
  expect(ran, ran.out + ran.err).toMatchObject({ code: 0 })
  for (const { id } of sent) expect(await project.json(['show', id]), ran.out + ran.err).toMatchObject({ state: 'succeeded' })
  expect(await project.json(['list', '--job', 'told'])).toHaveLength(2)
}
