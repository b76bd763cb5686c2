// Measures Treadle beside its peers on this machine and prints the figures with the bars. See README.md.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { judge } from './judge.mjs'
import { machine } from './machine.mjs'
import { benchOptions, usage } from './options.mjs'
import { preparePeers, prepareTreadle } from './packages.mjs'
import { bars, rowsOf } from './plan.mjs'
import { measureRow } from './rounds.mjs'
import { report } from './table.mjs'

try {
  const options = benchOptions(process.argv.slice(2))
  if (options.help) console.log(usage)
  else await bench(options)
} catch (thrown) {
  console.error(thrown.message)
  process.exitCode = 1
}

async function bench(options) {
  prepareTreadle()
  const without = preparePeers(say) ? [] : ['plainjob NORMAL', 'plainjob FULL']
  if (without.length > 0) say('plainjob could not be installed: going on without it')
  const folder = workingFolder()
  const results = []
  for (const row of rowsOf(options)) results.push(await measureRow(row, { rounds: options.rounds, without, folder, say }))
  const problems = results.flatMap((result) => result.problems)
  const { rounds, quick } = options
  const outcome = { machine: machine(), rounds, quick, results, verdicts: judge(bars, results), problems }
  console.log(options.json ? JSON.stringify(outcome, null, 2) : report(outcome))
  // A slow machine and a missed bar are results; a measurement that broke is not.
  if (problems.some(({ slow }) => !slow)) process.exitCode = 1
}

/** On the disk of the checkout: a temporary folder is in memory on many systems, where a commit costs nothing. */
function workingFolder() {
  const cache = fileURLToPath(new URL('node_modules/.cache/', import.meta.url))
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, 'bench-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  return folder
}

function say(message) {
  process.stderr.write(`bench: ${message}\n`)
}
