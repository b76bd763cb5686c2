import assert from 'node:assert/strict'
import type { FailurePolicy, WaitLink } from '../../../envelope/envelope.ts'
import type { Lease } from '../../../queue/contract/contract.ts'
import type { FinalState } from '../../../queue/contract/job-state.ts'
import { seededRandom } from '../../manual-clock.ts'
import { type Bench, times } from '../bench.ts'
import type { Group } from '../suite.ts'

const policies = ['fail', 'skip', 'ignore', 'continue', 'rescue'] as const satisfies readonly FailurePolicy[]
const runEnds = ['succeeded', 'succeeded', 'dead', 'cancelled', 'skipped'] as const satisfies readonly FinalState[]

/** One job of a random workflow. */
interface Node {
  readonly id: string
  readonly waits: readonly WaitLink[]
  /** How it ends if it runs. */
  readonly end: FinalState
  readonly keep: boolean
}

type Random = (below: number) => number

/**
 * The expected state of each job, given the order in which those that ran have ended: a small, slow model of the rules. Each end
 * reaches the jobs that wait for it, in the order in which they were sent, before any of its consequences do.
 */
class Expected {
  readonly ends = new Map<string, FinalState>()
  readonly released = new Set<string>()
  readonly #nodes: readonly Node[]
  readonly #told = new Map<string, Set<string>>()

  constructor(nodes: readonly Node[]) {
    this.#nodes = nodes
    for (const { id, waits } of nodes) {
      this.#told.set(id, new Set())
      if (waits.length === 0) this.released.add(id)
    }
  }

  end(id: string, state: FinalState): void {
    this.ends.set(id, state)
    for (const queue = [id]; queue.length > 0; ) {
      const ended = queue.shift() as string
      for (const node of this.#nodes) {
        const link = node.waits.find((each) => each.id === ended)
        if (link === undefined || this.released.has(node.id) || this.ends.has(node.id)) continue
        const fate = this.#tell(node, link, this.ends.get(ended) === 'succeeded')
        if (fate === 'released') this.released.add(node.id)
        else if (fate !== 'waits') {
          this.ends.set(node.id, fate)
          queue.push(node.id)
        }
      }
    }
  }

  #tell(node: Node, link: WaitLink, isSuccess: boolean): FinalState | 'released' | 'waits' {
    const told = (this.#told.get(node.id) as Set<string>).add(link.id)
    if (!isSuccess && link.onFailure === 'fail') return 'dead'
    if (!isSuccess && link.onFailure === 'skip') return 'skipped'
    if (!isSuccess && link.onFailure === 'continue') return 'released'
    if (told.size < node.waits.length) return 'waits'
    const rescues = node.waits.filter(({ onFailure }) => onFailure === 'rescue')
    return rescues.length > 0 && rescues.every(({ id }) => this.ends.get(id) === 'succeeded') ? 'skipped' : 'released'
  }
}

function randomNodes(bench: Bench, random: Random): readonly Node[] {
  const ids = times(2 + random(14), () => bench.newId())
  return ids.map((id, index) => {
    const others = ids.slice(0, index).filter(() => random(3) === 0)
    return {
      id,
      waits: others.map((other) => ({ id: other, onFailure: policies[random(policies.length)] as FailurePolicy })),
      end: runEnds[random(runEnds.length)] as FinalState,
      keep: random(2) === 0,
    }
  })
}

function shuffled<Item>(items: readonly Item[], random: Random): readonly Item[] {
  const rest = [...items]
  return items.map(() => rest.splice(random(rest.length), 1)[0] as Item)
}

function settlementOf(bench: Bench, lease: Lease, { end, keep }: Node) {
  switch (end) {
    case 'succeeded':
      return bench.done(lease, { keep, result: keep ? '1' : null })
    case 'dead':
      return bench.dead(lease, keep)
    case 'cancelled':
      return bench.cancelled(lease, keep)
    case 'skipped':
      return bench.skipped(lease, keep)
  }
}

/** Runs a workflow to its end, claiming in random order, and compares after each step. */
async function runWorkflow(bench: Bench, random: Random, what: string): Promise<void> {
  const nodes = randomNodes(bench, random)
  const expected = new Expected(nodes)
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const root = bench.newId()
  const links = (waitsFor: readonly WaitLink[]) => ({ root, parent: null, waitsFor, longestWaitMs: 86_400_000 })
  await bench.send(...nodes.map(({ id, waits }) => ({ id, links: links(waits) })))
  for (let step = 0; expected.ends.size < nodes.length; step++) {
    assert.ok(step <= nodes.length, `${what}: it comes to no end`)
    const leases = await bench.claim()
    const waiting = [...expected.released].filter((id) => !expected.ends.has(id))
    assert.deepEqual(
      leases.map(({ envelope }) => envelope.id).sort(),
      waiting.sort(),
      `${what}: what is claimable in step ${step}`,
    )
    const [first, ...others] = shuffled(leases, random) as [Lease, ...Lease[]]
    const node = byId.get(first.envelope.id) as Node
    await bench.settle(settlementOf(bench, first, node), ...others.map((lease) => bench.snooze(lease)))
    expected.end(node.id, node.end)
    await assertSame(bench, nodes, expected, `${what}, after step ${step}`)
  }
  await bench.assertNothingClaimable()
}

async function assertSame(bench: Bench, nodes: readonly Node[], { ends, released }: Expected, what: string): Promise<void> {
  for (const { id, keep } of nodes) {
    const found = (await bench.store.get(id))?.state ?? 'gone'
    const end = ends.get(id)
    const isDeleted = end !== undefined && released.has(id) && !keep
    const state = isDeleted ? 'gone' : (end ?? (released.has(id) ? 'ready' : 'blocked'))
    assert.equal(found, state, `${what}: job ${nodes.findIndex((node) => node.id === id)}`)
  }
}

export const randomWorkflows: Group = {
  title: 'random workflows',
  needs: ['store'],
  tests: {
    'every job ends as its policies say, and none before those it waits for': async (bench) => {
      for (const seed of times(40, (index) => index + 1)) {
        const next = seededRandom(seed)
        await runWorkflow(bench, (below) => Math.floor(next() * below), `seed ${seed}`)
      }
    },
  },
}
