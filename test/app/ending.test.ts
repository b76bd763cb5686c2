import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runScript } from './child.ts'

const urls = [['memory:'], ['sqlite:jobs.db']]

describe('a program', () => {
  it.each(urls)(
    'on %s ends by itself once its work was stopped and it was closed: nothing keeps the event loop alive',
    async (url) => {
      const script = `
      import { treadle } from 'treadle'
      const jobs = treadle('${url}')
      const job = jobs.define('mail', async (to) => to).timeout('1h').everyMinute().args('ada')
      const working = jobs.work({ lease: '1h', grace: '1h' })
      const run = await job.dispatch('ada')
      console.log(await run.result({ timeout: '1h' }))
      await jobs.stop()
      await working
      await jobs.close()
      console.log('closed')
    `
      expect(await runScript(script, { cwd: scratch() })).toEqual({ code: 0, out: 'ada\nclosed\n', err: '' })
    },
  )

  it.each(urls)('on %s ends by itself after a pass', async (url) => {
    const script = `
      import { treadle } from 'treadle'
      const jobs = treadle('${url}')
      await jobs.define('mail', async () => {}).dispatch()
      const { succeeded } = await jobs.run({ lease: '1h' })
      await jobs.close()
      console.log(succeeded)
    `
    expect(await runScript(script, { cwd: scratch() })).toEqual({ code: 0, out: '1\n', err: '' })
  })

  it('ends by itself after its signing key could not be made', async () => {
    const script = `
      import { mkdirSync } from 'node:fs'
      import { treadle } from 'treadle'
      mkdirSync('jobs.db.key')
      const jobs = treadle('sqlite:jobs.db')
      await jobs.define('mail', async () => {}).dispatch().catch(({ code }) => console.log(code))
    `
    expect(await runScript(script, { cwd: scratch() })).toEqual({ code: 0, out: 'KEY_INVALID\n', err: '' })
  })

  it('J37: lets running jobs finish on SIGTERM, and aborts them on the second', async () => {
    const script = `
      import { treadle } from 'treadle'
      const jobs = treadle('memory:')
      jobs.define('long', (_, { signal }) => new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason))
      }))
      jobs.on('job:started', () => console.log('started'))
      process.on('SIGTERM', () => console.log('asked'))
      await jobs.dispatch('long')
      const report = await jobs.work({ grace: '1h' })
      console.log('released', report.released)
      await jobs.close()
    `
    const sent = new Set<string>()
    const { code, out } = await runScript(script, {
      onOutput: (said, kill) => {
        for (const word of ['started', 'asked']) {
          if (!said.includes(word) || sent.has(word)) continue
          sent.add(word)
          kill('SIGTERM')
        }
      },
    })
    expect(out.split('\n').filter((line) => line !== 'asked')).toEqual(['started', 'released 1', ''])
    expect(code).toBe(0)
  })

  it('listens to signals only while it works, and not where it is told not to', async () => {
    const script = `
      import { treadle } from 'treadle'
      const jobs = treadle('memory:')
      jobs.define('mail', async () => {})
      const counts = () => process.listenerCount('SIGTERM') + process.listenerCount('SIGINT')
      const seen = [counts()]
      for (const signals of [true, false]) {
        const working = jobs.work({ signals })
        await new Promise((resolve) => setTimeout(resolve))
        seen.push(counts())
        await jobs.stop()
        await working
      }
      console.log(...seen, counts())
      await jobs.close()
    `
    expect((await runScript(script)).out).toBe('0 2 0 0\n')
  })
})

function scratch(): string {
  const folder = mkdtempSync(join(tmpdir(), 'treadle-ending-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
