// Measures Treadle beside its peers on this machine and prints the figures with the bars. See README.md.
import { missingPackages } from './contestants/contestant.mjs'
import { judge } from './judge.mjs'
import { machine } from './machine.mjs'
import { benchOptions, usage } from './options.mjs'
import { preparePeers, prepareTreadle } from './packages.mjs'
import { plans, rowsOf } from './plan.mjs'
import { measureRow } from './rounds.mjs'

try {
  const options = benchOptions(process.argv.slice(2))
  if (options.help) console.log(usage)
  else await bench(options)
} catch (thrown) {
  console.error(thrown.message)
  process.exitCode = 1
}

async function bench(options) {
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))
  prepareTreadle()
  preparePeers(say)
  const engines = []
  for (const name of options.engines) engines.push(await measureEngine(name, options))
  const { rounds, quick } = options
  const packages = options.engines.flatMap((name) => plans[name].packages)
  const outcome = { machine: machine(packages), rounds, quick, engines }
  console.log(options.json ? JSON.stringify(outcome, null, 2) : await reportOf(outcome))
  // A slow machine and a missed bar are results; a measurement that broke is not.
  if (engines.some(({ problems }) => problems.some(({ slow }) => !slow))) process.exitCode = 1
}

/** @param {import('./plan.mjs').EngineName} name */
async function measureEngine(name, options) {
  // Not before Treadle's packages are installed.
  const { openPlaces } = await import('./places.mjs')
  const plan = plans[name]
  const rows = rowsOf(plan, options)
  const without = contestantsWithoutPackages(rows)
  const places = await openPlaces(name, say)
  try {
    const results = []
    for (const row of rows) results.push(await measureRow(row, { rounds: options.rounds, without, places, say }))
    const problems = results.flatMap((result) => result.problems)
    return { name, description: places.description, results, verdicts: judge(plan.bars, results), problems }
  } finally {
    await places.close()
  }
}

function contestantsWithoutPackages(rows) {
  const names = new Set(rows.flatMap(({ entries }) => Object.values(entries).map(({ contestant }) => contestant)))
  return [...names].filter((name) => {
    const missing = missingPackages(name)
    if (missing.length > 0) say(`continuing without ${name}: ${missing.join(' and ')} could not be installed`)
    return missing.length > 0
  })
}

async function reportOf(outcome) {
  const { report } = await import('./table.mjs')
  return report(outcome)
}

function say(message) {
  process.stderr.write(`bench: ${message}\n`)
}
