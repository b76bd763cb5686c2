import type { Clock } from '../../src/core/time/clock.ts'
import { openMemory } from '../../src/engines/memory/index.ts'
import type { Coordination, QueueBackend, WholeBackend } from '../../src/queue/contract/contract.ts'
import type { ScheduleStore } from '../../src/queue/contract/schedule-store.ts'
import { backendConformance, conformanceTitles } from '../../src/testing/conformance/index.ts'

type Whole = WholeBackend
export type Broken = (backend: Whole) => Partial<QueueBackend>

/** Collects the suite's tests instead of running them under a framework. */
export function collect(open: (clock: Clock) => Promise<QueueBackend>, gaps: Record<string, string> = {}) {
  const tests = new Map<string, () => Promise<void>>()
  const skipped: string[] = []
  const it = Object.assign((title: string, run: () => Promise<void>) => void tests.set(title, run), {
    skip: (title: string) => void skipped.push(title),
  })
  backendConformance({ describe: (_, define) => define(), it }, 'broken', { open, gaps })
  return { tests, skipped }
}

/** The titles of a group that fail on a memory backend in which one thing was broken. */
export async function failuresIn(group: string, breakIt: Broken): Promise<readonly string[]> {
  const { tests } = collect(async (clock) => {
    const backend = openMemory({ clock })
    const whole: WholeBackend = {
      kind: 'broken',
      send: (envelopes) => backend.send(envelopes),
      lease: (request) => backend.lease(request),
      settle: (settlements) => backend.settle(settlements),
      begin: (tokens) => backend.begin(tokens),
      extend: (tokens, leaseMs) => backend.extend(tokens, leaseMs),
      reap: (maxRescues, deadOwners) => backend.reap(maxRescues, deadOwners),
      watch: (wake) => backend.watch(wake),
      store: backend.store,
      coordination: backend.coordination,
      ...(backend.patterns !== undefined && { patterns: backend.patterns }),
      [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose](),
    }
    return { ...whole, ...breakIt(backend) }
  })
  const failed: string[] = []
  for (const { title } of conformanceTitles.filter((each) => each.group === group)) {
    await tests
      .get(title)?.()
      .catch(() => failed.push(title))
  }
  return failed
}

export function withCoordination(breakIt: (whole: Coordination) => Partial<Coordination>): Broken {
  return ({ coordination }) => ({ coordination: { ...coordination, ...breakIt(coordination) } })
}

export function withSchedules(breakIt: (whole: ScheduleStore, backend: Whole) => Partial<ScheduleStore>): Broken {
  return (backend) => {
    const broken = breakIt(backend.store.schedules, backend)
    const schedules = overlaid(backend.store.schedules, broken)
    return { store: overlaid(backend.store, { schedules }) }
  }
}

/** The same object with some of its members replaced; the others still belong to it. */
export function overlaid<Part extends object>(whole: Part, changes: Partial<Part>): Part {
  return new Proxy(whole, {
    get(target, name) {
      if (Object.hasOwn(changes, name)) return Reflect.get(changes, name)
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
