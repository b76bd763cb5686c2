import type { JobBuilder, JobContext, Treadle } from 'treadle'
import { PermanentError } from 'treadle'
import type { ApiOperation, ApiProgram, JobSetup, Payload } from './program.ts'

/** What a handler needs of the program it belongs to. */
export interface HandlerWorld {
  /** Records something that the handler saw. */
  note(what: unknown): void
  perform(operation: ApiOperation): Promise<void>
  /** How often this was asked about the job before. */
  timesBefore(id: string): number
}

export const jobNames = ['alpha', 'beta', 'gamma', 'delta', 'epsilon'] as const
export const queueNames = ['default', 'fast', 'slow'] as const

export const jobName = (number = 0) => pick(jobNames, number)
export const queueName = (number = 0) => pick(queueNames, number)
export const keyName = (number = 0) => `key-${number}`
export const groupName = (number = 0) => `group-${number}`
export const tagName = (number = 0) => `tag-${number}`

export function pick<Item>(items: readonly Item[], number: number): Item {
  return items[Math.abs(Math.trunc(number)) % items.length] as Item
}

/** The same jobs on any instance. What contradicts itself is left out by the caller. */
export function defineJobs(
  on: Treadle,
  { jobs = [] }: Pick<ApiProgram, 'jobs'>,
  world: HandlerWorld,
): readonly JobBuilder<Payload | undefined, unknown>[] {
  return jobNames.map((name, index) => {
    const builder = on.define(name, async (payload: Payload, ctx) => handle(payload, ctx, world))
    configure(builder, jobs[index] ?? {})
    configureSchedule(builder, jobs[index] ?? {}, jobs.slice(0, index))
    return builder.args({ act: 'return', number: index })
  })
}

function configure(builder: JobBuilder<Payload, unknown>, setup: JobSetup): void {
  const { retries = 0, concurrency, rate, queue, priority, tags, isAtMostOnce } = setup
  builder.retries(isAtMostOnce ? 0 : retries, { base: '10s', max: '1m', jitter: 'none' })
  if (concurrency !== undefined) builder.concurrency(concurrency)
  if (rate !== undefined) builder.rate(Math.max(rate, 1), '1m')
  if (queue !== undefined) builder.queue(queueName(queue))
  if (priority !== undefined) builder.priority(priority)
  if (tags !== undefined) builder.tags(...tags.map(tagName))
  if (setup.isGrouped) {
    const { groupConcurrency, groupRate } = setup
    builder.group(({ group }) => (group === undefined ? null : groupName(group)), {
      ...(groupConcurrency !== undefined && { concurrency: Math.max(groupConcurrency, 1) }),
      ...(groupRate !== undefined && { rate: { limit: Math.max(groupRate, 1), per: '1m' } }),
    })
  }
  configureKeys(builder, setup)
  configureEnds(builder, setup)
}

const keyOf = ({ key }: Payload) => (key === undefined ? null : keyName(key))

function configureKeys(builder: JobBuilder<Payload, unknown>, setup: JobSetup): void {
  const { unique, onConflict, debounce, maxWait, throttle, isIdempotent, idempotencyTtl } = setup
  if (unique !== undefined) {
    builder.unique(keyOf, { until: untilOf(unique), ...(onConflict !== undefined && { onConflict }) })
  } else if (debounce !== undefined) {
    const most = maxWait === undefined ? {} : { maxWait: (debounce + maxWait) * 1_000 }
    builder.debounce(Math.max(debounce, 1) * 1_000, { key: keyOf, ...most })
  } else if (throttle !== undefined) builder.throttle(Math.max(throttle, 1) * 1_000, { key: keyOf })
  if (isIdempotent) builder.idempotencyKey(({ key }) => (key === undefined ? null : `once-${key}`))
  if (idempotencyTtl !== undefined) builder.idempotencyTtl(Math.max(idempotencyTtl, 1) * 1_000)
}

export function untilOf(until: 'started' | 'ended' | 'ever' | number): 'started' | 'ended' | 'ever' | number {
  return typeof until === 'number' ? Math.max(until, 1) * 1_000 : until
}

function configureEnds(builder: JobBuilder<Payload, unknown>, setup: JobSetup): void {
  const { keepSucceeded, keepDead, waitAtMost, onChildFailure, skipsOdd, isEncrypted, isAtMostOnce } = setup
  const keep = {
    ...(keepSucceeded !== undefined && { succeeded: keepSucceeded * 1_000 }),
    ...(keepDead !== undefined && { dead: keepDead * 1_000 }),
  }
  if (Object.keys(keep).length > 0) builder.keep(keep)
  if (waitAtMost !== undefined) builder.waitAtMost(Math.max(waitAtMost, 1) * 1_000)
  if (onChildFailure !== undefined) builder.onChildFailure(onChildFailure)
  if (skipsOdd) builder.skip(({ number = 0 }) => number % 2 === 1)
  if (isEncrypted) builder.encrypt()
  if (isAtMostOnce) builder.delivery('at-most-once')
}

function configureSchedule(
  builder: JobBuilder<Payload, unknown>,
  { schedule, concurrency = 1 }: JobSetup,
  earlier: readonly JobSetup[],
): void {
  if (schedule === undefined) return
  const { everyMinutes = 5, isRepeat, overlap, misfire, after, dependsOn } = schedule
  const minutes = Math.max(everyMinutes, 1)
  if (isRepeat) builder.repeat(`FINISHED, +${minutes} MINUTES`)
  else builder.everyXMinutes(minutes)
  const isContradiction = !isRepeat && misfire === 'all' && (overlap === 'skip' || concurrency > 1)
  if (misfire !== undefined && !isContradiction) builder.misfire(misfire, { within: '1h' })
  if (overlap !== undefined && !(overlap === 'queue' && concurrency > 1)) builder.overlap(overlap)
  const scheduled = jobNames.filter((_, index) => earlier[index]?.schedule !== undefined)
  if (scheduled.length === 0) return
  if (after !== undefined) builder.after(pick(scheduled, after))
  if (dependsOn !== undefined) builder.dependsOn(pick(scheduled, dependsOn), { onFailure: 'run' })
}

async function handle(payload: Payload, ctx: JobContext<Payload>, world: HandlerWorld): Promise<unknown> {
  const { act = 'return', key, number, lines = 0, progress, inside = [] } = payload
  const { id, job, attempt, maxAttempts, occurrence, queue, group, meta, tags } = ctx
  world.note({ handler: job, id, attempt, maxAttempts, occurrence, queue, group, meta, tags, act, key, number })
  for (let line = 1; line <= lines; line++) ctx.log(`line ${line}`, { attempt })
  if (progress !== undefined) await ctx.progress(progress)
  for (const operation of inside) await world.perform(operation)
  if (ctx.signal.aborted) world.note({ handler: job, id, aborted: true })
  switch (act) {
    case 'return':
      return { key: key ?? null, number: number ?? null }
    case 'fail':
      throw new Error(`attempt ${attempt} failed`)
    case 'fail for good':
      throw new PermanentError('it failed for good')
    case 'fail once':
      if (world.timesBefore(id) === 0) throw new Error('it failed once')
      return 'second time'
    case 'snooze once':
      if (world.timesBefore(id) === 0) ctx.snooze('20s')
      return 'awake'
    case 'dependencies':
      return ctx.dependencies()
    case 'children':
      await createChildren(payload, ctx)
      return ctx.children()
    case 'orphans':
      await createChildren(payload, ctx)
      return 'left them alone'
  }
}

async function createChildren({ children = [] }: Payload, ctx: JobContext<Payload>): Promise<void> {
  for (const { job, payload = {}, key, onFailure, delay } of children) {
    await ctx.dispatchChild(jobName(job), payload, {
      ...(key !== undefined && { key: `child-${key}` }),
      ...(onFailure !== undefined && { onFailure }),
      ...(delay !== undefined && { delay: delay * 1_000 }),
    })
  }
}
