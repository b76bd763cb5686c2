import { treadle } from 'treadle'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connect, scratchFolder } from '../../processes/database.ts'

test('a call that waits for another program to unlock the file says so meanwhile, and succeeds then', async () => {
  const folder = scratchFolder()
  const path = folder.file('jobs.db')
  const warnings: string[] = []
  const warn = (message: string) => warnings.push(message)
  const jobs = treadle(`sqlite:${path}`, { logger: { debug() {}, info() {}, warn, error() {} } })
  const other = connect(path)
  onTestFinished(async () => {
    other.close()
    await jobs.close()
    folder.remove()
  })
  const mail = jobs.define('mail', async () => {})
  await mail.dispatch()
  other.exec('BEGIN IMMEDIATE')
  const run = mail.dispatch()
  await vi.waitFor(() => expect(warnings).toEqual([`${path} is locked by another program: waiting for up to 30s`]), {
    timeout: 60_000,
  })
  other.exec('ROLLBACK')
  expect(await (await run).state()).toBe('ready')
})
