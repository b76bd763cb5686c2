// The whole test: format, lint and types, then every test file, with the servers that they need. The last line is the count, and
// the exit code agrees with it. Arguments go to vitest: `npm test -- test/core`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
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

const root = fileURLToPath(new URL('..', import.meta.url))

// What is compiled takes the longest, so it begins first.
const installing = installClients()
const checkFailed = npm(['run', '--silent', 'check'], { cwd: root }).status !== 0
const { passed, failed, skipped, trouble } = await testWithServices(process.argv.slice(2))
const clientsTrouble = await installing
const problems = [
  ...(checkFailed ? ['format, lint or types: see the top of this output'] : []),
  ...(clientsTrouble === null ? [] : [clientsTrouble]),
  ...trouble,
]
for (const problem of problems) console.log(`FAILED ${problem}`)
console.log(`${passed} passed, ${failed + problems.length} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed + problems.length === 0 ? 0 : 1

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
    return { passed: 0, failed: 0, skipped: 0, trouble: [thrown.message] }
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
    const report = join(folder, 'report.json')
    // A forgotten `.only` would pass by leaving the rest out.
    const options = ['--allowOnly=false', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
    const ending = await runCommand([process.execPath, 'node_modules/vitest/vitest.mjs', 'run', ...options, ...args], {
      cwd: root,
      env: { ...environmentOfThisNode(), ...variables },
    })
    return countTests(report, ending)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function countTests(report, ending) {
  let run
  try {
    run = JSON.parse(readFileSync(report, 'utf8'))
  } catch {
    return { passed: 0, failed: 0, skipped: 0, trouble: [`vitest ended with ${ending} and left no report`] }
  }
  // A file that cannot be loaded fails without having a test in it.
  const trouble = run.testResults.filter(failedAsAWhole).map((file) => `${file.name}: ${file.message.split('\n')[0]}`)
  if (ending !== 0 && run.numFailedTests + trouble.length === 0)
    trouble.push(`vitest ended with ${ending}: see its message above`)
  const skipped = run.numPendingTests + run.numTodoTests
  return { passed: run.numPassedTests, failed: run.numFailedTests, skipped, trouble }
}

function failedAsAWhole(file) {
  return file.status === 'failed' && !file.assertionResults.some((test) => test.status === 'failed')
}

function say(message) {
  process.stderr.write(`services: ${message}\n`)
}
