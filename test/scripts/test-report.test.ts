import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { afterSecondRun, filesToRunAgain, readReport } from '../../scripts/test-report.mjs'

describe('the count of a test run', () => {
  test('names each test that failed, and each file that could not be loaded', () => {
    const report = reportOf({ 'a.test.ts': { works: 'passed', breaks: 'failed' }, 'b.test.ts': {} })
    expect(readReport(report, 1)).toEqual({
      passed: 1,
      failures: [{ file: 'a.test.ts', fullName: 'breaks' }],
      skipped: 0,
      trouble: ['b.test.ts: not found'],
    })
  })

  test('a run without a report, or one that ends badly although all passed, is trouble', () => {
    expect(readReport('/nowhere/report.json', 'SIGKILL').trouble).toEqual(['vitest ended with SIGKILL and left no report'])
    const report = reportOf({ 'a.test.ts': { works: 'passed' } })
    expect(readReport(report, 1).trouble).toEqual(['vitest ended with 1: see its message above'])
  })

  test('single failures are run again, and neither many of them nor files that cannot be loaded', () => {
    const failing = (files: number) => ({
      failures: Array.from({ length: files }, (_, file) => ({ file: `${file}.test.ts`, fullName: 'breaks' })),
      trouble: [],
    })
    expect(filesToRunAgain(failing(2))).toEqual(['0.test.ts', '1.test.ts'])
    expect(filesToRunAgain(failing(6))).toEqual([])
    expect(filesToRunAgain({ ...failing(1), trouble: ['b.test.ts: not found'] })).toEqual([])
  })

  test('what fails again has failed; what passes alone has passed, and is named', () => {
    const first = readReport(reportOf({ 'a.test.ts': { works: 'passed', races: 'failed', breaks: 'failed' } }), 1)
    const second = readReport(reportOf({ 'a.test.ts': { works: 'passed', races: 'passed', breaks: 'failed' } }), 1)
    expect(afterSecondRun(first, second)).toEqual({
      passed: 2,
      failures: [{ file: 'a.test.ts', fullName: 'breaks' }],
      skipped: 0,
      trouble: [],
      unsteady: ['a.test.ts: races'],
    })
  })

  test('a test that fails only the second time has failed', () => {
    const first = readReport(reportOf({ 'a.test.ts': { works: 'passed', races: 'failed' } }), 1)
    const second = readReport(reportOf({ 'a.test.ts': { works: 'failed', races: 'passed' } }), 1)
    expect(afterSecondRun(first, second)).toMatchObject({ passed: 1, failures: [{ fullName: 'works' }] })
  })
})

type Status = 'passed' | 'failed'

/** A report as vitest writes it. A file without tests could not be loaded. */
function reportOf(files: Record<string, Record<string, Status>>): string {
  const path = join(mkdtempSync(join(tmpdir(), 'report-')), 'report.json')
  const testResults = Object.entries(files).map(([name, tests]) => {
    const assertionResults = Object.entries(tests).map(([fullName, status]) => ({ fullName, status }))
    const passed = assertionResults.length > 0 && assertionResults.every(({ status }) => status === 'passed')
    return { name, message: 'not found\nsomewhere', status: passed ? 'passed' : 'failed', assertionResults }
  })
  const numPassedTests = Object.values(files)
    .flatMap((tests) => Object.values(tests))
    .filter((status) => status === 'passed').length
  writeFileSync(path, JSON.stringify({ testResults, numPassedTests, numPendingTests: 0, numTodoTests: 0 }))
  return path
}
