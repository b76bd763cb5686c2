import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PermanentError, type Treadle, treadle } from 'treadle'
import { describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../../services.ts'

const patiently = { timeout: 120_000 }
const silent = { debug() {}, info() {}, warn() {}, error() {} }

async function urlOf(engine: 'sqlite' | 'postgres' | 'mariadb'): Promise<string> {
  if (engine !== 'sqlite') {
    const database = await freshDatabase(engine)
    onTestFinished(() => database[Symbol.asyncDispose]())
    return database.url
  }
  const folder = mkdtempSync(join(tmpdir(), 'treadle-alerts-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return `sqlite:${join(folder, 'jobs.db')}`
}

describe.each(['sqlite', 'postgres', 'mariadb'] as const)('alerts on %s', (engine) => {
  test('fire in one process, stay known when that ends, and are resolved by another', async () => {
    const url = await urlOf(engine)
    const sent: string[] = []
    const program = (name: string): Treadle => {
      const notify = ({ state }: { readonly state: string }) => sent.push(`${name} ${state}`)
      const alerts = { rules: [{ rule: 'deadJobs' } as const], every: '1s', notify }
      const jobs = treadle(url, { signingKey: 'of this test alone', alerts, logger: silent })
      jobs.define('fails', (_: null) => Promise.reject(new PermanentError('no')))
      onTestFinished(() => jobs.close())
      return jobs
    }
    const first = program('first')
    const run = await first.dispatch('fails' as never, null as never)
    const working = first.work({ signals: false })
    await expect.poll(() => sent, patiently).toEqual(['first firing'])
    await first.stop()
    await working
    const second = program('second')
    void second.work({ signals: false })
    await expect.poll(async () => (await (await second.store()).workers.list()).length, patiently).toBe(1)
    await (await second.store()).remove({ state: 'dead', ids: [run.id], limit: 1 })
    await expect.poll(() => sent, patiently).toEqual(['first firing', 'second resolved'])
    await second.stop()
  })
})
