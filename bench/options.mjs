import { parseArgs } from 'node:util'
import { groups } from './plan.mjs'

export const usage = `npm run bench -- [options]
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
  const only = values.only?.split(',').map((name) => name.trim()) ?? groups
  const unknown = only.filter((name) => !groups.includes(name))
  if (unknown.length > 0) throw new Error(`--only knows ${groups.join(', ')}, not ${unknown.join(', ')}`)
  return { quick, rounds, only, json, help }
}
