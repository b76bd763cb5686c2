import { version } from '../../../core/version.ts'
import { Refusal } from '../wire/refusal.ts'
import { wireObject } from '../wire/wire-values.ts'
import { type Command, ok, okWith } from './command.ts'

export const ping: Command = async () => ok

export const status: Command = async (_, { jobs, peer }) => {
  const { backend } = jobs.deps.queue
  const { grant } = peer
  const all = await backend.store.counts({ isSum: !grant.isLimited })
  const counts = grant.isLimited ? all.filter((count) => grant.sees(count)) : all
  const total = { ready: 0, scheduled: 0, blocked: 0, running: 0, dead: 0 }
  for (const { counts: each } of counts) {
    for (const state of Object.keys(total) as (keyof typeof total)[]) total[state] += each[state]
  }
  return okWith(
    wireObject({
      state: 'LEADING',
      isLeader: true,
      plugins: ['Jobs'],
      server: 'treadle',
      version,
      backend: backend.kind,
      jobs: total,
      CommitCount: jobs.commits.count,
    }),
  )
}

/** Load balancers send HTTP health checks. This is all the HTTP that is supported here. */
export const health: Command = async ({ method }) => {
  if (method.startsWith('GET /status/handlingCommands')) return { code: 200, text: 'LEADING', http: true }
  if (method.startsWith('GET /status/isFollower')) return { code: 500, text: 'Not Following. State=LEADING', http: true }
  throw new Refusal(430, 'Unrecognized command')
}
