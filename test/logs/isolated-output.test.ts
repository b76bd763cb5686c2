import { describe, expect, test } from 'vitest'
import { isolatingProgram } from '../isolation/isolating-program.ts'
import { defineJobs } from './printing.mjs'

describe.each(['thread', 'process'] as const)('what a handler in a %s', (kind) => {
  test('prints and logs is stored with its job', async () => {
    const { jobs } = isolatingProgram()
    const run = await defineJobs(jobs, kind).dispatch(null)
    await jobs.run()
    const lines = async () => (await jobs.logs(run.id)).lines.map(({ level, message, fields }) => [level, message, fields])
    // What is printed comes on another way than what is logged, and may come a moment after the end of the run.
    await expect.poll(lines, { timeout: 60_000 }).toHaveLength(5)
    const said = await lines()
    expect(said).toContainEqual(['stdout', 'to stdout', undefined])
    expect(said).toContainEqual(['stderr', 'to stderr', undefined])
    expect(said).toContainEqual(['stdout', 'without a line break', undefined])
    expect(said).toContainEqual(['info', 'logged', { n: 1 }])
    expect(said).toContainEqual(['warn', 'child', { part: 'a', deep: { er: true } }])
  })
})
