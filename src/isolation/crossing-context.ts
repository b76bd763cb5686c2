import { TreadleError } from '../core/errors.ts'
import { frozenCopy } from '../core/frozen.ts'
import type { JobContext } from '../definition/context.ts'
import type { Run } from '../definition/dispatching/run.ts'
import type { OpenCalls } from '../execution/attempt/open-calls.ts'

/**
 * How each part of a context reaches a handler in an isolate: copied by value, called in the worker, or created in the isolate.
 */
const crossings = {
  id: 'copied',
  job: 'copied',
  name: 'copied',
  queue: 'copied',
  group: 'copied',
  payload: 'copied',
  attempt: 'copied',
  maxAttempts: 'copied',
  occurrence: 'copied',
  meta: 'copied',
  tags: 'copied',
  progress: 'called',
  heartbeat: 'called',
  dispatchChild: 'called',
  children: 'called',
  dependencies: 'called',
  signal: 'made',
  logger: 'made',
  log: 'made',
  snooze: 'made',
  transaction: 'made',
  completeIn: 'made',
} as const satisfies Record<keyof JobContext, 'copied' | 'called' | 'made'>

type Crossings = typeof crossings
type PartsThatAre<How> = { [Part in keyof Crossings]: Crossings[Part] extends How ? Part : never }[keyof Crossings]

export type CrossingRun = Pick<Run, 'id' | 'job' | 'created'>
export type ContextData = Pick<JobContext, PartsThatAre<'copied'>>
export type ContextMethod = PartsThatAre<'called'>
type ContextCalls = Pick<JobContext, ContextMethod>
type MadeParts = Pick<JobContext, PartsThatAre<'made'>>

/** The program of the isolate, as far as children are concerned. */
interface ChildProgram {
  keyOf(job: unknown): string
  handle(run: CrossingRun): Run
}

/** The data that is sent to the isolate. */
export function contextData(context: JobContext): ContextData {
  return Object.fromEntries(partsThatAre('copied').map((part) => [part, context[part]])) as unknown as ContextData
}

/** Builds the context inside the isolate. */
export function isolatedContext(
  data: ContextData,
  made: MadeParts,
  call: (method: ContextMethod, args: readonly unknown[]) => Promise<unknown>,
  open: OpenCalls,
  program: () => ChildProgram,
): JobContext<never> {
  const childOf = async (job: unknown, args: readonly unknown[]) =>
    program().handle((await call('dispatchChild', [program().keyOf(job), ...args])) as CrossingRun)
  const dispatchChild = (job: unknown, ...args: readonly unknown[]) => open.add(childOf(job, args))
  const calls = partsThatAre('called').map((method) => [method, (...args: readonly unknown[]) => open.add(call(method, args))])
  const meta = frozenCopy(data.meta)
  return Object.freeze({
    ...data,
    meta,
    ...made,
    ...(Object.fromEntries(calls) as ContextCalls),
    dispatchChild,
  }) as JobContext<never>
}

/** The worker's side of a call. */
export async function callContext(context: JobContext, method: ContextMethod, args: readonly unknown[]): Promise<unknown> {
  const answer = await (context[method] as (...args: readonly unknown[]) => Promise<unknown>)(...args)
  return method === 'dispatchChild' ? crossingRun(answer as Run) : answer
}

/** The answer to a call after the run has ended: the same as in the worker itself. */
export function lateAnswer(method: ContextMethod, { job, id }: ContextData): unknown {
  switch (method) {
    case 'progress':
      return undefined
    case 'heartbeat':
      return false
    case 'dispatchChild':
    case 'children':
    case 'dependencies':
      throw new TreadleError('STOPPED', `Job "${job}" (${id}) has ended: ${method}() comes too late`)
  }
}

export const contextMethods = partsThatAre('called')

export function isContextData(value: unknown): value is ContextData {
  return typeof value === 'object' && value !== null && partsThatAre('copied').every((part) => Object.hasOwn(value, part))
}

/** Handles are recreated on the other side. */
function crossingRun({ id, job, created }: Run): CrossingRun {
  return { id, job, created }
}

function partsThatAre<How extends Crossings[keyof Crossings]>(how: How): readonly PartsThatAre<How>[] {
  const parts = Object.keys(crossings) as (keyof Crossings)[]
  return parts.filter((part) => crossings[part] === how) as unknown as PartsThatAre<How>[]
}
