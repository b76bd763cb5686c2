import { describe, expect, it } from 'vitest'
import { jobProject } from './project.ts'

describe('a worker that ends by itself', () => {
  it('ends after its number of jobs, and leaves the others in the queue', async () => {
    const project = jobProject()
    for (let n = 0; n < 3; n++) await project.call(['send', 'add', '{"a":1,"b":2}'])
    const worker = project.start(['work', '--max-jobs', '1', '--concurrency', '1', '--no-scheduler'])
    const { code, err } = await worker.ended
    expect(code).toBe(0)
    expect(err).toContain('(--max-jobs); waiting for running jobs')
  })

  it('ends after its time, and when it has too much memory', async () => {
    const project = jobProject()
    for (const [bound, value] of [
      ['--max-time', '1ms'],
      ['--max-memory', '1kb'],
    ] as const) {
      const { code, err } = await project.start(['work', bound, value, '--no-scheduler']).ended
      expect(code).toBe(0)
      expect(err).toContain(bound)
    }
  })

  it('tells how it is on a port', async () => {
    const project = jobProject()
    const worker = project.start(['work', '--health-port', '0', '--no-scheduler', '--json'])
    const said = await worker.says('health:listening')
    const line = said.split('\n').find((text) => text.includes('health:listening')) as string
    const { port } = JSON.parse(line) as { readonly port: number }
    await expect.poll(async () => (await fetch(`http://127.0.0.1:${port}/ready`)).status, { timeout: 60_000 }).toBe(200)
    worker.child.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
    await expect(fetch(`http://127.0.0.1:${port}/ready`)).rejects.toThrow()
  })
})
