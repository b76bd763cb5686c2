import { parseArgs } from 'node:util'
import { engineNames, groups } from './plan.mjs'

export const usage = `npm run bench -- [options]
  --engine a,b     on these engines: ${engineNames.join(', ')}, or all; sqlite by default
  --quick          a tenth of the jobs and one round: does it work, not how fast is it
  --rounds N       rounds of each measurement, 3 by default
  --only a,b       only these: ${groups.join(', ')}
  --json           the figures of every round as JSON, instead of tables
  --help`

/** What was asked for; throws with what is wrong about it. */
export function benchOptions(args) {
  const { values } = parseArgs({
    args,
    options: {
      engine: { type: 'string', default: 'sqlite' },
      quick: { type: 'boolean', default: false },
      rounds: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  })
  const { quick, json, help } = values
  const rounds = values.rounds === undefined ? (quick ? 1 : 3) : Number(values.rounds)
  if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`--rounds must be a whole number from 1 on, got ${values.rounds}`)
  const engines = values.engine === 'all' ? engineNames : namesIn(values.engine, '--engine', engineNames)
  const only = values.only === undefined ? groups : namesIn(values.only, '--only', groups)
  return { engines, quick, rounds, only, json, help }
}

function namesIn(text, option, known) {
  const names = text.split(',').map((name) => name.trim())
  const unknown = names.filter((name) => !known.includes(name))
  if (unknown.length > 0) throw new Error(`${option} knows ${known.join(', ')}, not ${unknown.join(', ')}`)
  return names
}
