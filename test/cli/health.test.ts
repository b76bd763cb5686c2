import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { healthOf, lookAt } from '../../src/cli/health.ts'
import { silentLogger } from '../../src/core/logger.ts'
import { systemClock, treadle } from '../../src/index.ts'

it('counts all jobs that died in the last hour, and not only those that are read', async () => {
  const url = `sqlite:${join(mkdtempSync(join(tmpdir(), 'treadle-health-')), 'jobs.db')}`
  const opened = () => treadle(url, { signingKey: 'a-key-for-the-test-of-the-health-only', logger: silentLogger })
  {
    await using jobs = opened()
    jobs.define('charge', () => {
      throw new Error('The card was declined')
    })
    const payloads = Array.from({ length: 130 }, (_, n) => n)
    await jobs.dispatchMany('charge', payloads)
    await jobs.run()
  }
  await using jobs = opened()
  const { findings } = healthOf(await lookAt(await jobs.store(), systemClock.now(), async () => []))
  expect(findings.map(({ text }) => text)).toContain('130 jobs failed for good in the last hour')
})
