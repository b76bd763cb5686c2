import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { faultsOf, scratchFolder } from './database.ts'
import { endPrograms, startProgram } from './program.ts'

/** Where in its work the program ends: the moments differ, so that the database's thread is met in all it does. */
const times = [1, 2, 3, 5, 8, 13, 40, 105, 211, 316, 422, 633]
const fewTimes = [1, 3, 8, 40, 211]

describe('a program with a worker on SQLite', () => {
  let folder: ReturnType<typeof scratchFolder>
  beforeEach(() => {
    folder = scratchFolder()
  })
  afterEach(async () => {
    await endPrograms()
    folder.remove()
  })

  test.each([
    ['calls process.exit() in a handler', 'handles', 7, times],
    ['calls process.exit() between dispatches', 'dispatches', 7, [1, 2, 3]],
    ['calls process.exit() while it opens the database', 'opening', 7, times],
    ['throws what nobody catches', 'throws', 1, fewTimes],
  ] as const)('that %s ends with that exit code', async (_, way, code, moments) => {
    const endings = []
    for (const after of moments) {
      const path = folder.file(`${way}-${after}.db`)
      const program = startProgram('exiting', { path, way, after })
      endings.push({ after, ...(await program.ended), hasAborted: /Napi::Error|terminate called/.test(program.stderr) })
      if (way !== 'opening') expect(faultsOf(path)).toEqual([])
    }
    expect(endings).toEqual(moments.map((after) => ({ after, code, signal: null, hasAborted: false })))
  })
})

test('a program whose mounted dashboard was used ends when it has nothing else to do', async () => {
  const folder = scratchFolder()
  const program = startProgram('mounted-dashboard', { path: folder.file('jobs.db') })
  expect(await program.ended).toEqual({ code: 0, signal: null })
  expect(program.lines).toEqual(['200 1'])
  await endPrograms()
  folder.remove()
})
