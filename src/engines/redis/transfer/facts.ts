import { type Fact, type FactPage, type FactRequest, factKinds } from '../../../queue/contract/transfer.ts'
import { learnFact } from '../../../queue/rules/transfer/learning.ts'
import { reservedUntil } from '../../../queue/rules/transfer/moved-units.ts'
import type { QueueTime } from '../../servers/queue-time.ts'
import { script } from '../connections/script.ts'
import type { RedisServer } from '../connections/server.ts'
import { pairsOf } from '../store/jobs.ts'
import { occurrenceName, readOccurrence } from '../units/loaded-timeline.ts'
import { field, type Need } from '../units/needs.ts'
import type { Op } from '../units/places.ts'
import { lastingOf, markOf } from '../units/stored-keys.ts'
import type { Units } from '../units/units.ts'
import { wantTimelines } from './components.ts'

type Kind = Exclude<Fact['kind'], 'numbers'>

/**
 * Reads part of a hash, and the run id of the server process: a scan's cursor is only valid in that process, so in another one
 * the scan starts over.
 */
const walkScript = script(`
local process = string.match(redis.call('INFO', 'server'), 'run_id:(%x+)') or ''
local cursor = ARGV[2]
if ARGV[3] ~= process then cursor = '0' end
local answer = redis.call('HSCAN', KEYS[1] .. ARGV[1], cursor, 'COUNT', ARGV[4])
return { process, answer[1], answer[2] }
`)

const tables: Readonly<Record<Kind, string>> = { occurrence: 'oc', once: 'om', unique: 'ul' }

/** What the queue stores besides jobs. The cursor is the kind and the position of the scan over its hash. */
export async function factsOf(server: RedisServer, { after, limit }: FactRequest, now: number): Promise<FactPage> {
  const [kind = factKinds[0], cursor = '0', process = ''] = (after ?? '').split(':').filter((part) => part !== '')
  if (kind === 'numbers') {
    const [last] = await server.read([field('meta', 'numbers')])
    return { facts: [{ kind: 'numbers', next: Number(last ?? 0) + 1 }], after: `${factKinds[1]}` }
  }
  const table = tables[kind as Kind]
  const answer = (await server.run(walkScript, [table, cursor, process, limit])) as [string, string, string[]]
  const [walked, next, flat] = answer
  const facts = [...pairsOf(flat)].flatMap(([name, text]) => factOf(kind as Kind, name, text, now) ?? [])
  if (next !== '0') return { facts, after: `${kind}:${next}:${walked}` }
  return { facts, after: factKinds[factKinds.indexOf(kind as Kind) + 1] ?? null }
}

function factOf(kind: Kind, name: string, text: string, now: number): Fact | undefined {
  switch (kind) {
    case 'occurrence': {
      const seam = name.lastIndexOf('\n')
      const occurrence = readOccurrence(name.slice(0, seam), Number(name.slice(seam + 1)), text)
      return { kind, occurrence: { ...occurrence.record(), storedAt: occurrence.storedAt } }
    }
    case 'once': {
      const mark = markOf(name, text)
      if (mark === undefined || mark.expiresAt <= now) return undefined
      return { kind, key: name, until: mark.expiresAt, result: mark.result, seal: mark.seal }
    }
    case 'unique': {
      const key = lastingOf(name, text)
      if (key === undefined || key.expiresAt <= now || key.expiresAt === reservedUntil) return undefined
      return { kind, key: name, jobId: key.jobId, until: Number.isFinite(key.expiresAt) ? key.expiresAt : null }
    }
  }
}

/** Adds facts that are not known here yet. */
export function learnFacts(units: Units, facts: readonly Fact[], time: QueueTime): Promise<void> {
  return units.run((queue) => {
    queue.rows.want(facts.flatMap(needsOf))
    wantTimelines(
      queue,
      facts.flatMap((fact) => (fact.kind === 'occurrence' ? fact.occurrence.schedule : [])),
    )
    const ops: Op[] = []
    const numbers = {
      startFrom: (next: number) => {
        if (next - 1 > Number(queue.rows.field('meta', 'numbers') ?? 0)) ops.push(['S', 'meta', 'numbers', next - 1])
      },
    }
    for (const fact of facts) learnFact({ ...queue.rules, numbers }, fact, time.now())
    return { answer: undefined, ops }
  })
}

function needsOf(fact: Fact): readonly Need[] {
  switch (fact.kind) {
    case 'numbers':
      return [field('meta', 'numbers')]
    case 'occurrence': {
      const { schedule, at, jobId } = fact.occurrence
      return [field('oc', occurrenceName(schedule, at)), field('h', jobId)]
    }
    case 'once':
      return [field('om', fact.key), field('oh', fact.key)]
    case 'unique':
      return [field('ul', fact.key), field('u', fact.key)]
  }
}
