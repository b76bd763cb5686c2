import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { world } from '../world.ts'
import { runScript } from './child.ts'

const signingKey = { id: 'k1', secret: 'correct horse battery staple' }

describe('signing that is introduced on a queue in use', () => {
  it('accepts what was sent without a signature, tells of each such job, and signs what it sends itself', async () => {
    const before = world({ unsigned: true })
    const after = before.other({ signingKey, unsigned: 'accept' })
    const old = await before.jobs.declare('mail').dispatchMany([1, 2])
    const seen: unknown[] = []
    const mail = after.jobs.define('mail', async (n: unknown) => seen.push(n))
    await after.jobs.run()
    expect(seen).toEqual([1, 2])
    const fresh = await mail.dispatch(3)
    const strict = before.other({ signingKey })
    strict.jobs.define('mail', async () => {})
    await strict.jobs.run()
    expect((await strict.record(fresh)).state).toBe('succeeded')
    const told = after.happened.filter(({ name }) => name === 'job:unsigned').map(({ event }) => event)
    expect(told).toEqual(old.map(({ id }) => ({ id, job: 'mail', name: 'mail', queue: 'default' })))
  })

  it('warns once a minute, and says how many others there were', async () => {
    const before = world({ unsigned: true })
    const after = before.other({ signingKey, unsigned: 'accept' })
    after.jobs.define('mail', async () => {})
    const mail = before.jobs.declare('mail')
    const send = (count: number) => mail.dispatchMany(Array.from({ length: count }, () => ({})))
    await send(5)
    await after.jobs.run()
    const warnings = () => after.log.filter((line) => line.includes('has no signature'))
    expect(warnings()).toHaveLength(1)
    await after.clock.advance(60_000)
    await send(1)
    await after.jobs.run()
    expect(warnings()).toHaveLength(2)
    expect(warnings()[1]).toMatch(/; so were 4 others since the last warning$/)
  })

  it('refuses a wrong signature all the same, and everything without one when it is over', async () => {
    const before = world({ signingKey: { ...signingKey, secret: 'the secret of somebody else' } })
    const forged = await before.jobs.declare('mail').dispatch(1)
    const accepting = before.other({ signingKey, unsigned: 'accept' })
    accepting.jobs.define('mail', async () => {})
    await accepting.jobs.run()
    expect(await accepting.record(forged)).toMatchObject({ state: 'dead', reason: 'rejected' })
    const unsigned = await before.other({ unsigned: true }).jobs.declare('mail').dispatch(1)
    const strict = before.other({ signingKey })
    strict.jobs.define('mail', async () => {})
    await strict.jobs.run()
    expect(await strict.record(unsigned)).toMatchObject({ state: 'dead', reason: 'rejected' })
    expect(strict.names()).not.toContain('job:unsigned')
  })

  it('can be asked for by TREADLE_UNSIGNED, which knows nothing else', async () => {
    const script = `
      import { treadle } from 'treadle'
      const jobs = treadle('sqlite:jobs.db', { unsigned: process.env.FIRST ? true : undefined })
      const mail = jobs.define('mail', async () => console.log('ran'))
      if (process.env.FIRST) await mail.dispatch({})
      else await jobs.run()
      await jobs.close()
    `
    const folder = mkdtempSync(join(tmpdir(), 'treadle-unsigned-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    await runScript(script, { cwd: folder, env: { FIRST: '1' } })
    const accepting = await runScript(script, { cwd: folder, env: { TREADLE_UNSIGNED: 'accept' } })
    expect(accepting.out).toBe('ran\n')
    expect(accepting.err).toContain("accepted because of unsigned: 'accept'")
    const wrong = await runScript(script, { cwd: folder, env: { TREADLE_UNSIGNED: 'true' } })
    expect(wrong.err).toContain('TREADLE_UNSIGNED must be accept')
  })
})
