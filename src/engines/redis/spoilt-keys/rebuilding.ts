import { script } from '../connections/script.ts'
import type { RedisServer } from '../connections/server.ts'
import { Mending } from '../store/mending.ts'
import { field } from '../units/needs.ts'
import { moveBetween, type Op } from '../units/places.ts'
import type { Units } from '../units/units.ts'
import { closeLanesScript, recountScript, relistScript } from './rebuild-script.ts'

const [recounting, closing, relisting] = [script(recountScript), script(closeLanesScript), script(relistScript)]

/** Entries per step. */
const page = 200

/**
 * Writes all indexes of the queue again, from its jobs, edges and runs of schedules, which stay as they are. Other programs may use
 * the queue meanwhile: each step adds what is missing according to what is stored at that moment, so any number of programs may do
 * this at the same time, and one that was interrupted begins again. `goOn` is called before each step.
 */
export async function rebuildIndexes(server: RedisServer, units: Units, goOn: () => Promise<void>): Promise<void> {
  await server.run(recounting, [])
  await server.run(closing, [])
  for (const table of ['e', 'oc']) {
    let cursor = '0'
    do {
      await goOn()
      cursor = (await server.run(relisting, [table, cursor, page])) as string
    } while (cursor !== '0')
  }
  let cursor = '0'
  do {
    await goOn()
    const [[next, found]] = (await server.all([['HSCAN', 'h', cursor, 'COUNT', page]])) as [[string, string[]]]
    cursor = next
    const ids = found.filter((_, index) => index % 2 === 0)
    for (let start = 0; start < ids.length; start += page) await enterAgain(units, ids.slice(start, start + page))
  } while (cursor !== '0')
  // Jobs may have ended while nothing told what waits for them.
  const mending = new Mending(server, units)
  while ((await mending.mend(page)).looked === page) await goOn()
}

function enterAgain(units: Units, ids: readonly string[]): Promise<void> {
  return units.run((queue) => {
    queue.want(ids)
    const steps = ids.flatMap((id) => moveBetween(null, queue.job(id) ?? null))
    queue.rows.want(steps.filter(isField).map(fieldOf))
    queue.wakes = true
    // A number or a unique key may have been given to another job by now.
    const ops = steps.filter((op) => !isField(op) || queue.rows.field(fieldOf(op).table, fieldOf(op).field) === null)
    return { answer: undefined, ops }
  })
}

function isField([letter]: Op): boolean {
  return letter === 'S'
}

function fieldOf([, table, name]: Op) {
  return field(String(table), String(name)) as { readonly kind: 'field'; readonly table: string; readonly field: string }
}
