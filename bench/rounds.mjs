import { median } from './measure/statistics.mjs'
import { runChild, TooSlowError } from './processes.mjs'

/** So long may one measurement take on a machine that is too slow for it. */
const timeoutMs = 900_000

/**
 * Measures a row: the contestants take turns, round after round, so that what disturbs the machine disturbs them alike.
 *
 * @param {import('./plan.mjs').Row} row
 * @param {{ rounds: number, without: readonly string[], places: import('./places.mjs').Places, say: (message: string) => void }} options
 */
export async function measureRow(row, { rounds, without, places, say }) {
  const columns = Object.entries(row.entries).filter(([, { contestant }]) => !without.includes(contestant))
  const samples = Object.fromEntries(columns.map(([column]) => [column, []]))
  const problems = []
  for (let round = 1; round <= (row.rounds ?? rounds); round++) {
    for (const [column, entry] of columns) {
      say(`${row.title}: ${column}, round ${round}`)
      try {
        samples[column].push(await measureOnce(row, entry, places))
      } catch (thrown) {
        problems.push({ row: row.id, column, message: thrown.message, slow: thrown instanceof TooSlowError })
      }
    }
  }
  const medians = Object.fromEntries(columns.map(([column]) => [column, medianOf(samples[column])]))
  return { id: row.id, title: row.title, figure: row.figure, medians, samples, problems }
}

async function measureOnce(row, { contestant, settings }, places) {
  const place = await places.make()
  try {
    return await runChild('measurement.mjs', { ...settings, measure: row.measure, contestant, place }, { timeoutMs })
  } finally {
    await places.remove(place)
  }
}

/** Figure by figure; lists of figures are left to the samples. */
function medianOf(samples) {
  if (samples.length === 0) return undefined
  const names = Object.keys(samples[0]).filter((name) => typeof samples[0][name] === 'number')
  return Object.fromEntries(names.map((name) => [name, median(samples.map((sample) => sample[name]))]))
}
