import { type Envelope, type Links, sealEnvelope, type UniqueUntil } from '../../envelope/envelope.ts'
import type { JobSpec } from './program.ts'
import { groupOf, idOf, nameOf, queueOf, rootOf, type Stage, tagOf } from './stage.ts'

const longestWaitMs = 86_400_000

/** The envelope of a job; an occurrence provides its own time. */
export function envelopeOf(stage: Stage, spec: JobSpec, runAt?: number): Envelope {
  const now = stage.clock.now()
  const { unique, until = 'ended', group, number, payload = 0, delay = 0 } = spec
  const delivery = {
    createdAt: now,
    runAt: runAt ?? now + delay,
    uniqueKey: unique === undefined ? null : `key-${unique}`,
    uniqueUntil: (typeof until === 'number' ? now + until : until) satisfies UniqueUntil,
    group: group === undefined ? null : groupOf(group),
    number: number === undefined ? null : stage.numberAt(number),
    links: linksOf(stage, spec),
  }
  return sealEnvelope(identityOf(spec, runAt ?? null), JSON.stringify({ payload }), delivery, null)
}

function identityOf({ id, name, queue, priority = 0, single = false, tags = [] }: JobSpec, occurrence: number | null) {
  return {
    id: idOf(id),
    job: nameOf(name),
    name: nameOf(name),
    queue: queueOf(queue),
    priority,
    maxRetries: 3,
    timeoutMs: null,
    singleInstance: single,
    idempotencyKey: null,
    meta: {},
    occurrence,
    repeat: null,
    ...(tags.length > 0 && { tags: tags.map(tagOf) }),
  }
}

function linksOf(stage: Stage, { id, waitsFor = [], parent, root, longestWait = longestWaitMs }: JobSpec): Links | null {
  if (waitsFor.length === 0 && parent === undefined && root === undefined) return null
  const own = parent === undefined ? idOf(id) : idOf(parent.id)
  return {
    root: root === undefined ? own : rootOf(root),
    parent:
      parent === undefined
        ? null
        : {
            id: idOf(parent.id),
            token: parent.free === true ? null : stage.tokenOf(parent),
            key: `child-${parent.key ?? 0}`,
            onFailure: parent.policy ?? 'fail',
            longestWaitMs: longestWait,
          },
    waitsFor: waitsFor.map(({ on, policy = 'fail', late }) => ({
      id: idOf(on),
      onFailure: policy,
      ...(late !== undefined && { late }),
    })),
    longestWaitMs: longestWait,
  }
}
