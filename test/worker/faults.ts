import { openMemory } from '../../src/engines/memory/index.ts'
import type { WholeBackend } from '../../src/queue/contract/contract.ts'
import { ManualClock } from '../../src/testing/manual-clock.ts'

type Call = 'send' | 'lease' | 'settle' | 'extend'

export interface FaultyBackend {
  readonly backend: WholeBackend
  /** The same queue for those whose calls do not fail. */
  readonly sound: WholeBackend
  readonly clock: ManualClock
  /** How many of the next calls fail; infinity is all. */
  readonly failing: Record<Call, number>
  /** When each call came, as milliseconds since the start. */
  readonly calls: Record<Call, number[]>
}

/** A queue in memory whose calls fail as often as it is told. */
export function faultyBackend(): FaultyBackend {
  const clock = new ManualClock()
  const startMs = clock.now()
  const sound = openMemory({ clock })
  const failing: Record<Call, number> = { send: 0, lease: 0, settle: 0, extend: 0 }
  const calls: Record<Call, number[]> = { send: [], lease: [], settle: [], extend: [] }
  const answer = <Answer>(call: Call, ask: () => Promise<Answer>): Promise<Answer> => {
    calls[call].push(clock.now() - startMs)
    return failing[call]-- > 0 ? Promise.reject(new Error(`${call} failed`)) : ask()
  }
  const backend: WholeBackend = {
    kind: 'memory',
    store: sound.store,
    coordination: sound.coordination,
    send: (envelopes) => answer('send', () => sound.send(envelopes)),
    lease: (request) => answer('lease', () => sound.lease(request)),
    settle: (settlements) => answer('settle', () => sound.settle(settlements)),
    begin: (tokens) => sound.begin(tokens),
    extend: (tokens, leaseMs) => answer('extend', () => sound.extend(tokens, leaseMs)),
    reap: (maxRescues) => sound.reap(maxRescues),
    watch: (wake) => sound.watch(wake),
    [Symbol.asyncDispose]: () => sound[Symbol.asyncDispose](),
  }
  return { backend, sound, clock, failing, calls }
}
