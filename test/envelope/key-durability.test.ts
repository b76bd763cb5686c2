import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { runScript } from '../app/child.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'treadle-durability-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
})

/** Tells, in order, what is synced, linked and acknowledged. Named imports of a module of Node's follow its changes. */
const watched = `
  import fs from 'node:fs'
  import { syncBuiltinESMExports } from 'node:module'
  import { basename } from 'node:path'
  const names = new Map()
  const told = (text) => text.replace(/^jobs\\.db\\.key\\.[A-Za-z0-9_-]+$/, 'draft')
  const tell = (what, path) => console.log(what, told(fs.realpathSync.native(path) === fs.realpathSync.native('.') ? '.' : basename(path)))
  const { openSync, fsyncSync, linkSync } = fs
  fs.openSync = (path, ...rest) => {
    const descriptor = openSync(path, ...rest)
    names.set(descriptor, path)
    return descriptor
  }
  fs.fsyncSync = (descriptor) => {
    tell('sync', names.get(descriptor))
    fsyncSync(descriptor)
  }
  let before = () => {}
  fs.linkSync = (from, to) => {
    before(to)
    linkSync(from, to)
    tell('link', to)
  }
  syncBuiltinESMExports()
  const { treadle } = await import('treadle')
`

const dispatched = `
  const jobs = treadle('sqlite:jobs.db')
  await jobs.define('mail', async () => {}).dispatch({})
  console.log('acknowledged')
  await jobs.close()
`

describe('a key', () => {
  it('is on disk, and so is its name, before the first job that it signed is acknowledged', async () => {
    const { out, err } = await runScript(watched + dispatched, { cwd: folder })
    expect(err).toBe('')
    const steps = out.split('\n')
    const order = ['sync draft', 'link jobs.db.key', 'sync jobs.db.key', 'sync .', 'acknowledged']
    expect(steps.filter((step, index) => order.includes(step) && steps.lastIndexOf(step) === index)).toEqual(order)
  })

  it('that another program made first is put on disk as well, for that one may not have come to it', async () => {
    const overtaken = `
      before = (path) => {
        fs.writeFileSync(path, 'k-first a-secret-that-is-long-enough\\n', { mode: 0o600 })
        console.log('overtaken')
      }
    `
    const { out, err } = await runScript(watched + overtaken + dispatched, { cwd: folder })
    expect(err).toBe('')
    const steps = out.split('\n')
    expect(steps).not.toContain('link jobs.db.key')
    const after = steps.slice(steps.indexOf('overtaken'), steps.indexOf('acknowledged'))
    expect(after).toEqual(expect.arrayContaining(['sync jobs.db.key', 'sync .']))
  })

  it('that is there already is put on disk before a program relies on it', async () => {
    await runScript(watched + dispatched, { cwd: folder })
    const { out } = await runScript(watched + dispatched, { cwd: folder })
    const steps = out.split('\n')
    expect(steps.slice(0, steps.indexOf('acknowledged'))).toEqual(expect.arrayContaining(['sync jobs.db.key', 'sync .']))
  })

  it('is neither made nor read by a program that only looks', async () => {
    const looking = `
      const jobs = treadle('sqlite:jobs.db')
      console.log((await (await jobs.store()).counts()).length, fs.existsSync('jobs.db.key'))
      await jobs.close()
    `
    const { out } = await runScript(watched + looking, { cwd: folder })
    expect(out).toBe('0 false\n')
  })
})
