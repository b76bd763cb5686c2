// A program that does something with its queue where it is loaded, and not only when it works.
import { treadle } from 'treadle'

const jobs = treadle('memory:')
const job = jobs.define('begun', () => 'ran').daily()
const beginnings = {
  dispatch: () => job.dispatch(),
  chain: () => jobs.chain([job.step()]),
  workflow: () => {
    const workflow = jobs.workflow()
    workflow.add(job.step())
    return workflow.dispatch()
  },
  pause: () => jobs.schedules.pause('begun'),
  prune: () => jobs.prune(),
}
await beginnings[process.env.ISOLATED_BEGINNING]()
throw new Error('it must not be done once more')
