import type { LeaseRef, SettleSpec } from '../program.ts'
import type { Chance } from './chance.ts'
import { anyJob, compact, type KnownJobs, type Loose, randomPlace, spans } from './jobs.ts'

const hows = [
  'done',
  'done',
  'done',
  'done',
  'retry',
  'retry',
  'snooze',
  'wait',
  'again',
  'dead',
  'cancelled',
  'skipped',
] as const

export function randomLease(chance: Chance, known: KnownJobs): LeaseRef {
  return compact({ id: anyJob(chance, known.running, known), stale: chance.rarely(12, () => 1) })
}

export function randomSettlement(chance: Chance, known: KnownJobs): SettleSpec {
  const how = chance.of(hows)
  const lease = { ...randomLease(chance, known), how }
  const drop = chance.rarely(3, () => true)
  switch (how) {
    case 'done':
      return compact({ ...lease, drop, ...randomDone(chance) })
    case 'skipped':
      return compact({ ...lease, drop, result: chance.rarely(2, () => chance.below(5)), seal: chance.rarely(3, () => 'seal') })
    case 'retry':
    case 'snooze':
      return compact({ ...lease, delay: chance.rarely(2, () => chance.of(spans)) })
    case 'again':
      return compact({ ...lease, as: randomPlace(chance) })
    case 'dead':
      return compact({ ...lease, drop, reason: chance.rarely(3, () => chance.of(['permanent', 'rejected'] as const)) })
    case 'wait':
      return lease
    case 'cancelled':
      return compact({ ...lease, drop })
  }
}

function randomDone(chance: Chance): Loose<SettleSpec> {
  return {
    result: chance.rarely(2, () => chance.below(5)),
    seal: chance.rarely(3, () => 'seal'),
    unlinked: chance.rarely(4, () => true),
    alone: chance.rarely(8, () => true),
    once: chance.rarely(4, () =>
      compact({
        key: chance.below(2),
        keepMs: chance.of([0, 500, 2_000]),
        result: chance.rarely(4, () => chance.below(5)),
      }),
    ),
  }
}
