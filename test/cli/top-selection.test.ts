import { EventEmitter } from 'node:events'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { Output } from '../../src/cli/output/output.ts'
import { readSchedules } from '../../src/cli/schedules/schedules.ts'
import { Top } from '../../src/cli/top/top.ts'
import { PermanentError, treadle } from '../../src/index.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'

const patience = { timeout: 60_000 }

/** A keyboard that tests press. */
class Keys extends EventEmitter {
  setEncoding(): void {}
  resume(): void {}
  pause(): void {}
}

class Screen extends EventEmitter {
  readonly columns = 120
  readonly rows = 40
  write(_?: string): void {}
}

test('a key acts on the row that was selected, also after other rows have come before it', async () => {
  const jobs = treadle('memory:')
  const fails = jobs.define('fails', async () => {
    throw new PermanentError('broken')
  })
  const die = async () => {
    const run = await fails.dispatch({})
    await jobs.run()
    return run
  }
  const [keys, clock] = [new Keys(), new ManualClock()]
  const out = new Output({ json: false, colour: false, stdout: { write: () => true }, stderr: { write: () => true } })
  const store = await jobs.store()
  const top = new Top({ url: 'memory:', store, schedules: async () => [], clock, out }, 1_000)
  const ending = new AbortController()

  const seen = await die()
  const shown = top.show(keys, new Screen(), ending.signal)
  await expect.poll(() => top.view.dead.length, patience).toBe(1)
  keys.emit('data', '\t\t')
  expect(top.view.row).toBe(0)
  const later = await die()
  await expect.poll(() => clock.nextTimerAt, patience).not.toBeNull()
  await clock.advance(1_000)
  await expect.poll(() => top.view.dead.length, patience).toBe(2)
  expect(top.view.dead.map(({ id }) => id)).toEqual([later.id, seen.id])
  keys.emit('data', 'r')
  await expect.poll(() => seen.state(), patience).toBe('ready')
  expect(await later.state()).toBe('dead')

  ending.abort()
  await shown
  await jobs.close()
})

test('? shows what the keys do, and Esc leads back', async () => {
  const jobs = treadle('memory:')
  const [keys, screen] = [new Keys(), new Screen()]
  let drawn = ''
  screen.write = (text?: string) => {
    drawn = text ?? ''
  }
  const out = new Output({ json: false, colour: false, stdout: { write: () => true }, stderr: { write: () => true } })
  const deps = { url: 'memory:', store: await jobs.store(), schedules: async () => [], clock: new ManualClock(), out }
  const ending = new AbortController()
  const shown = new Top(deps, 1_000).show(keys, screen, ending.signal)
  await expect.poll(() => drawn, patience).toContain('? keys')
  keys.emit('data', '?')
  expect(drawn).toContain('pause or resume a queue or a schedule')
  keys.emit('data', '\u001b')
  expect(drawn).toContain('QUEUES')
  ending.abort()
  await shown
  await jobs.close()
})

test('a schedule of other programs is told in words, with its zone', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'treadle-top-')), 'jobs.db')
  const followed = treadle(`sqlite:${path}`)
  followed
    .define('digest', async () => {})
    .dailyAt('02:30')
    .timezone('Europe/Paris')
  await followed.run()
  await followed.close()
  const jobs = treadle(`sqlite:${path}`)
  const clock = new ManualClock()
  const [first] = await readSchedules(jobs, clock.now(), false)
  expect(first?.text).toBe('At 02:30, Europe/Paris time')
  await jobs.close()
})
