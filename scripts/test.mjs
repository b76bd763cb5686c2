// The whole test: format, lint and types, then every test file, with the servers that they need. The last line is the count, and
// the exit code agrees with it. Arguments go to vitest: `npm test -- test/core`. In CI, single tests that fail run once more, alone.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { installClients } from './clients.mjs'
import { environmentOfThisNode, npm } from './npm.mjs'
import { aptInstall } from './services/apt.mjs'
import { testPrograms, testServers } from './services/engines.mjs'
import { findPrograms, programFolders } from './services/programs.mjs'
import { runCommand } from './services/run-command.mjs'
import { startServices } from './services/start.mjs'
import { afterSecondRun, filesToRunAgain, readReport } from './test-report.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

// What is compiled takes the longest, so it begins first.
const installing = installClients()
const checkFailed = npm(['run', '--silent', 'check'], { cwd: root }).status !== 0
const { passed, failures, skipped, trouble, unsteady = [] } = await testWithServices(process.argv.slice(2))
const clientsTrouble = await installing
const problems = [
  ...(checkFailed ? ['format, lint or types: see the top of this output'] : []),
  ...(clientsTrouble === null ? [] : [clientsTrouble]),
  ...trouble,
]
for (const problem of problems) console.log(`FAILED ${problem}`)
for (const test of unsteady) console.log(`UNSTEADY ${test}: it failed beside the others and passed alone`)
const failed = failures.length + problems.length
console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed === 0 ? 0 : 1

async function testWithServices(args) {
  try {
    const services = await startServices({ ...testServers, say })
    for (const message of [...services.missing, ...missingPrograms()]) say(`the tests that need this are skipped. ${message}`)
    try {
      await installing
      return await runTests(args, services.variables)
    } finally {
      await services.stop()
    }
  } catch (thrown) {
    return { passed: 0, failures: [], skipped: 0, trouble: [thrown.message] }
  }
}

function missingPrograms() {
  return Object.entries(testPrograms).flatMap(([program, debianPackage]) => {
    const isThere = () => findPrograms([[program]], programFolders(process.env)) !== null
    const problem = isThere() ? null : aptInstall(debianPackage, process.env, say)
    return problem === null || isThere() ? [] : [`${program} is not installed, and cannot be: ${problem}.`]
  })
}

async function runTests(args, variables) {
  const folder = mkdtempSync(join(tmpdir(), 'treadle-test-'))
  try {
    const first = await runVitest(args, variables, join(folder, 'first.json'))
    const files = process.env.CI ? filesToRunAgain(first) : []
    if (files.length === 0) return first
    console.log(`Running what failed once more, alone, to tell a defect from an unsteady test: ${files.join(', ')}`)
    return afterSecondRun(first, await runVitest([...files, '--maxWorkers=1'], variables, join(folder, 'second.json')))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function runVitest(args, variables, report) {
  // A forgotten `.only` would pass by leaving the rest out.
  const options = ['--allowOnly=false', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const ending = await runCommand([process.execPath, 'node_modules/vitest/vitest.mjs', 'run', ...options, ...args], {
    cwd: root,
    env: { ...environmentOfThisNode(), ...variables },
  })
  return readReport(report, ending)
}

function say(message) {
  process.stderr.write(`services: ${message}\n`)
}
