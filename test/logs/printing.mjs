// Handlers that print and log, for the worker that dispatches them and for the isolates that run them.
import { treadle } from 'treadle'

export function defineJobs(jobs, kind) {
  return jobs
    .define(`${kind} prints`, async (_, ctx) => {
      console.log('to stdout')
      console.error('to stderr')
      process.stdout.write('without a line break')
      ctx.log('logged', { n: 1 })
      ctx.logger.child({ part: 'a' }).warn({ deep: { er: true } }, 'child')
    })
    .isolate(kind, { from: import.meta.url })
}

const jobs = treadle('memory:')
for (const kind of ['thread', 'process']) defineJobs(jobs, kind)
