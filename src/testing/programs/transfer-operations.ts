import { digest } from '../../core/text/digest.ts'
import type { QueueBackend } from '../../queue/contract/contract.ts'
import type { Fact, MovedUnit, PageRequest, Parcel, Transfer } from '../../queue/contract/transfer.ts'
import { scopedKey } from '../../queue/model/unique-key.ts'
import type { FactSpec, PageSpec, Performers } from './program.ts'
import { idOf, nameOf, queueOf, type Stage, scheduleOf } from './stage.ts'

type Names = 'readUnits' | 'moveAway' | 'moveBack' | 'facts' | 'learn'

const mostPages = 1_000

/** What a move to another queue takes, what comes back from there, and what a queue learns from another one. */
export const transferOperations: Performers<Names, Stage> = {
  readUnits: async (stage, page) => {
    const pages = await allPages((after) => transferOf(stage.backend).read({ ...pageRequest(stage, page), after }))
    return unitAnswers(
      stage,
      pages.flatMap(({ units }) => units),
    )
  },
  moveAway: async (stage, page) => {
    const parcels = await move(stage.backend, stage.elsewhere, pageRequest(stage, page))
    const schedules = parcels.flatMap((parcel) => parcel.schedules)
    const units = parcels.flatMap((parcel) => parcel.units)
    return {
      paused: parcels.flatMap(({ paused }) => paused),
      schedules: schedules.sort((a, b) => (a.name < b.name ? -1 : 1)),
      units: unitAnswers(stage, units),
    }
  },
  moveBack: async (stage, { limit = 2 }) => {
    const parcels = await move(stage.elsewhere, stage.backend, pageRequest(stage, { limit }))
    return parcels.flatMap(({ units }) => units.flatMap(({ jobs }) => jobs.map(({ id }) => id))).sort()
  },
  facts: async (stage, { limit = 2 }) => {
    const pages = await allPages((after) => transferOf(stage.backend).facts({ after, limit }))
    // Numbers have gaps, in other places on each engine.
    const facts = pages.flatMap((page) => page.facts).filter(({ kind }) => kind !== 'numbers')
    return facts.map(factName).sort()
  },
  learn: (stage, { facts = [] }) => transferOf(stage.backend).learn(facts.map((fact) => factOf(stage, fact))),
}

function transferOf({ kind, transfer }: QueueBackend): Transfer {
  if (transfer === undefined) throw new Error(`${kind} hands over no jobs`)
  return transfer
}

function pageRequest({ clock }: Stage, { queue, limit = 2, createdBefore = 0 }: PageSpec): Omit<PageRequest, 'after'> {
  return { queue: queue === undefined ? null : queueOf(queue), limit, createdBefore: clock.now() + createdBefore }
}

async function allPages<Page extends { readonly after: string | null }>(
  read: (after: string | null) => Promise<Page>,
): Promise<readonly Page[]> {
  const pages = [await read(null)]
  for (let after = pages[0]?.after ?? null; after !== null && pages.length < mostPages; after = pages.at(-1)?.after ?? null) {
    pages.push(await read(after))
  }
  return pages
}

/** Moves everything that it can. What the other queue refuses goes back. */
async function move(from: QueueBackend, to: QueueBackend, request: Omit<PageRequest, 'after'>): Promise<readonly Parcel[]> {
  const [source, destination] = [transferOf(from), transferOf(to)]
  const target = await destination.identity()
  const pages = await allPages((after) => source.pack({ ...request, after, target }))
  const parcels = pages.flatMap(({ parcel }) => parcel ?? [])
  for (const parcel of parcels) {
    const refusals = await destination.unpack(parcel)
    await source.close(
      parcel.id,
      refusals.map(({ id }) => id),
    )
  }
  return parcels
}

function unitAnswers(stage: Stage, units: readonly MovedUnit[]) {
  return units.map((unit) => unitAnswer(stage, unit)).sort((a, b) => byId(a.jobs[0], b.jobs[0]))
}

/** The jobs in the order of their ids. */
function unitAnswer(stage: Stage, { jobs, gone }: MovedUnit) {
  const named = jobs.map(({ number, onceKeys, ...job }) => {
    return { ...job, number: stage.nameOfNumber(number), onceKeys: [...onceKeys].sort() }
  })
  return { jobs: named.sort(byId), gone: gone.map(({ root, state, jobs }) => `${root} ${state} ${jobs}`).sort() }
}

function byId(a: { readonly id: string } | undefined, b: { readonly id: string } | undefined): number {
  return (a?.id ?? '') < (b?.id ?? '') ? -1 : 1
}

function factOf({ startedAt }: Stage, fact: FactSpec): Fact {
  switch (fact.kind) {
    case 'numbers':
      return { kind: 'numbers', next: fact.next ?? 1 }
    case 'occurrence': {
      const { schedule, at: from = 0, id, outcome = null } = fact
      const at = startedAt + from
      const times = outcome === null ? { startedAt: null, finishedAt: null } : { startedAt: at, finishedAt: at }
      return {
        kind: 'occurrence',
        occurrence: { schedule: scheduleOf(schedule), at, jobId: idOf(id), storedAt: at, outcome, ...times },
      }
    }
    case 'once':
      return { kind: 'once', key: digest(`once-${fact.key ?? 0}`), until: startedAt + (fact.until ?? 0), result: '1', seal: null }
    case 'unique': {
      const { name, key = 0, id, until } = fact
      const index = digest(scopedKey(nameOf(name), `key-${key}`))
      return { kind: 'unique', key: index, jobId: idOf(id), until: until === undefined ? null : startedAt + until }
    }
  }
}

function factName(fact: Fact): string {
  switch (fact.kind) {
    case 'numbers':
      return `number ${fact.next}`
    case 'once':
      return `once ${fact.key} until ${fact.until}: ${fact.result} ${fact.seal}`
    case 'unique':
      return `unique ${fact.key} of ${fact.jobId} until ${fact.until}`
    case 'occurrence': {
      const { schedule, at, jobId, storedAt, outcome, startedAt, finishedAt } = fact.occurrence
      return `${schedule} at ${at} is ${jobId}, stored ${storedAt}: ${outcome} from ${startedAt} to ${finishedAt}`
    }
  }
}
