import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { treadleProgram } from '../../src/cli/program.ts'
import { treadle } from '../../src/index.ts'

const folder = fileURLToPath(new URL('../../docs/coming-from', import.meta.url))
const pages = readdirSync(folder).filter((name) => name !== 'README.md')
const jobs = treadle('memory:')
const builder = jobs.define('known', async () => {})
const commands = treadleProgram().commands.map((command) => command.name())

/** What stands in code in the right column, or in a sentence about Treadle: the left column is about the other system. */
function saidOfTreadle(page: string): readonly string[] {
  const rows = readFileSync(join(folder, page), 'utf8')
    .split('\n')
    .filter((line) => /^\|.+\|$/.test(line) && !line.startsWith('|---'))
  return rows.flatMap((row) => [...(row.split(' | ').at(-1) ?? '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code))
}

/** Methods that a code of the right column calls without a subject, on `jobs`, or as a command. */
function unknownIn(code: string): readonly string[] {
  const called = [...code.matchAll(/(?:^|[^\w.])\.(\w+)\(/g)].map(([, name = '']) => name)
  const ofInstance = [...code.matchAll(/\bjobs\.(\w+)/g)].map(([, name = '']) => name)
  const ofCommands = [...code.matchAll(/\btreadle ([a-z]+)\b/g)].map(([, name = '']) => name)
  return [
    ...called.filter((name) => !(name in builder)).map((name) => `.${name}()`),
    ...ofInstance.filter((name) => !(name in jobs)).map((name) => `jobs.${name}`),
    ...ofCommands.filter((name) => !commands.includes(name)).map((name) => `treadle ${name}`),
  ]
}

describe('a page for those who come from elsewhere', () => {
  test.each(pages)('%s names only methods and commands that there are', (page) => {
    const said = saidOfTreadle(page)
    expect(said.length).toBeGreaterThan(5)
    expect(said.flatMap((code) => unknownIn(code).map((unknown) => `${unknown} in ${code}`))).toEqual([])
  })

  test.each(pages)('%s says what it was checked against, and has traps', (page) => {
    const text = readFileSync(join(folder, page), 'utf8')
    expect(text).toMatch(/^## Traps$/m)
    expect(text).toMatch(/Checked against .+ on 2\d{3}-\d\d-\d\d|Written from |The protocol is spoken by/)
  })

  test('a method that there is not is found', () => {
    expect(unknownIn('.jitter(3)')).toEqual(['.jitter()'])
    expect(unknownIn('jobs.nothing(…)')).toEqual(['jobs.nothing'])
    expect(unknownIn('treadle dance')).toEqual(['treadle dance'])
    expect(unknownIn('.retries(2) and jobs.work()')).toEqual([])
  })
})
