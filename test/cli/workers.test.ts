import { describe, expect, it } from 'vitest'
import { configText, Project } from './project.ts'

const files = {
  'treadle.config.ts': configText,
  'jobs/mail.ts': "import { jobs } from 'treadle'\njobs.define('mail', async () => {}).queue('post')\n",
}

describe('treadle workers', () => {
  it('lists who works, as a table and for programs, and status shows them too (demands 13)', async () => {
    const project = new Project(files)
    await project.call(['migrate'])
    expect(await project.call(['workers'])).toMatchObject({ code: 0, out: 'no workers\n' })
    const worker = project.start(['work', '--name', 'mail-1', '--queue', 'post', '--concurrency', '7'])
    await worker.says('working on')
    const announced = async () => (await project.json(['workers'])) as readonly Record<string, unknown>[]
    await expect.poll(announced, { timeout: 45_000 }).not.toEqual([])
    const [row] = await announced()
    expect(row).toMatchObject({ pid: worker.child.pid, queues: ['post'], jobs: ['mail'], concurrency: 7, running: 0 })
    expect(row?.startedAt).toMatch(/^\d{4}-\d\d-\d\dT/)
    for (const command of ['workers', 'status']) {
      expect((await project.call([command])).out).toMatch(
        new RegExp(`^WORKER .*\nmail-1:${worker.child.pid}:.* healthy .* 0/7 +post`, 'm'),
      )
    }
    worker.child.kill('SIGTERM')
    await worker.ended
    expect(await project.json(['workers'])).toEqual([])
  })
})
