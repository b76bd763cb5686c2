import { cpSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ownFile } from '../../build/core/files/own-file.js'

const built = new URL('../../build/', import.meta.url)

describe('the files that the library finds by a path', () => {
  const text = readFileSync(new URL('core/files/own-file.js', built), 'utf8')
  const named = [...text.matchAll(/^ {4}'(\S+)': \(\) => existsSync\(new URL\('..\/..\/(\S+)', import\.meta\.url\)\)/gm)]

  test('are named by literals, by which tools that copy a program find them', () => {
    expect(named.length).toBeGreaterThan(5)
    expect(named.filter(([, name, literal]) => name !== literal)).toEqual([])
  })

  test.each(named.map(([, name]) => name as Parameters<typeof ownFile>[0]))('%s is built', (name) => {
    expect(ownFile(name).href).toBe(new URL(name, built).href)
  })

  test('are reported by their path if a tool has left them out', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'treadle-copied-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    cpSync(fileURLToPath(new URL('core', built)), join(folder, 'core'), { recursive: true })
    const copied = await import(join(folder, 'core/files/own-file.js'))
    expect(() => copied.ownFile('engines/sqlite/thread/thread.js')).toThrow(
      `The file ${folder}/engines/sqlite/thread/thread.js of Treadle is missing. If a tool has copied the program to where it runs, let it copy the whole package: node_modules/treadle/dist`,
    )
  })
})
