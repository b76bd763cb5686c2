import type { TreadleClient } from 'treadle/client'
import { groupName, jobName, keyName, queueName, tagName } from './definitions.ts'
import { dispatchOptions, dispatchWorkflow } from './dispatching.ts'
import type { ApiOperation, FilterSetup, Payload } from './program.ts'
import type { World } from './world.ts'

type Named<Name extends ApiOperation['op']> = Extract<ApiOperation, { readonly op: Name }>

/** What the public API answers. */
export async function operations(operation: ApiOperation, world: World): Promise<unknown> {
  const { jobs, clock } = world
  switch (operation.op) {
    case 'dispatch':
      return dispatch(operation, world)
    case 'dispatchMany': {
      const { job, payloads = [{}], options = {} } = operation
      return known(await jobs.dispatchMany(jobName(job), payloads, dispatchOptions(options, world)), world)
    }
    case 'chain':
    case 'batch':
    case 'workflow': {
      const sent = await dispatchWorkflow(operation, world)
      return { id: sent.id, runs: known(sent.runs, world), tree: await sent.tree() }
    }
    case 'run':
      return run(operation, world)
    case 'runAll':
      return world.isInside ? 'not inside' : jobs.run({ concurrency: 1, lease: '1d' })
    case 'advance': {
      const { seconds = 1 } = operation
      return clock.advance(Math.abs(world.isInside ? Math.min(seconds, 60) : seconds) * 1_000)
    }
    case 'cancel':
      return handleOf(operation, world).then((handle) => handle.cancel({ tree: operation.isTree === true }))
    case 'retry':
      return handleOf(operation, world).then((handle) => handle.retry())
    case 'reschedule':
      return world.handle(operation.ref).reschedule((operation.seconds ?? 1) * 1_000)
    case 'look':
      return look(operation, world)
    case 'upsert':
      return upsert(operation, world)
    case 'schedule':
      return changeSchedule(operation, world)
    case 'dryRun':
      return jobs.schedules.dryRun({ at: new Date(clock.now() + (operation.seconds ?? 0) * 1_000) })
    case 'schedules': {
      const { stored, prefix } = operation
      return jobs.schedules.list({ ...(stored !== undefined && { stored }), ...(prefix !== undefined && { prefix }) })
    }
    case 'pause':
      return jobs.pause(pausable(operation))
    case 'resume':
      return jobs.resume(pausable(operation))
    case 'prune':
      return jobs.prune(operation.olderThan === undefined ? {} : { olderThan: operation.olderThan * 1_000 })
    case 'list':
      return (await (await jobs.store()).list(await filterOf(operation, world))).map(({ id }) => id)
    case 'counts':
      return counts(operation, world)
    case 'retryAll':
    case 'cancelAll':
    case 'removeAll':
      return changeAll(operation, world)
    default:
      return world.overHttp((client) => overHttp(operation, client, world))
  }
}

function known(runs: readonly { readonly id: string; readonly job: string; readonly created: boolean }[], world: World): unknown {
  world.learn(runs.map(({ id }) => id))
  return runs.map(({ id, job, created }) => ({ id, job, created }))
}

async function dispatch(
  { job, payload = {}, options: given = {}, by = 'builder' }: Named<'dispatch'>,
  world: World,
): Promise<unknown> {
  const { jobs } = world
  const options = dispatchOptions(given, world)
  const name = jobName(job)
  const builder = world.builders.find((each) => each.job === name)
  if (builder === undefined) throw new Error(`no job ${name}`)
  switch (by) {
    case 'builder':
      return known([await builder.dispatch(payload as never, options)], world)
    case 'name':
      return known([await jobs.dispatch(name, payload, options)], world)
    case 'draft':
      return known([await builder.delay('30s').dispatch(payload as never, options)], world)
    case 'args':
      return known([await jobs.args(payload).delay('5s').dispatch(name, options)], world)
  }
}

/** Pass by pass with one job each, so that nothing is claimed ahead of time. */
async function run(operation: Named<'run'>, world: World): Promise<unknown> {
  const { passes = 3, queue, job, ageing, hasNoScheduler, isOther } = operation
  if (world.depth > 2) return 'too deep'
  const instance = world.isInside || isOther ? world.other : world.jobs
  const reports: unknown[] = []
  for (let pass = 0; pass < Math.min(passes, 12); pass++) {
    const report = await instance.run({
      concurrency: 1,
      limit: 1,
      lease: '1d',
      name: 'worker',
      scheduler: hasNoScheduler !== true && !world.isInside,
      ...(queue !== undefined && { queues: [queueName(queue)] }),
      ...(job !== undefined && { jobs: [jobName(job)] }),
      ...(ageing !== undefined && { ageing: Math.max(ageing, 1) * 1_000 }),
    })
    reports.push(report)
    if (Object.values(report).every((count) => count === 0)) break
  }
  return reports
}

async function handleOf({ ref, isWorkflow }: { readonly ref?: number; readonly isWorkflow?: boolean }, world: World) {
  if (isWorkflow !== true) return world.handle(ref)
  const record = await (await world.jobs.store()).get(world.id(ref))
  return world.jobs.handle(record?.root ?? world.id(ref))
}

async function look(operation: Named<'look'>, world: World): Promise<unknown> {
  const handle = await handleOf(operation, world)
  const asked = {
    state: () => handle.state(),
    progress: () => handle.progress(),
    tree: () => handle.tree(),
    why: () => world.jobs.why(handle.id),
    logs: () => world.jobs.logs(handle.id),
  }
  const answers: Record<string, unknown> = {}
  for (const [name, ask] of Object.entries(asked)) answers[name] = await ask().catch((refused: unknown) => ({ refused }))
  return answers
}

const scheduleKey = (key = 0) => `plan-${Math.abs(key) % 3}`

async function upsert(operation: Named<'upsert'>, { jobs, clock }: World): Promise<unknown> {
  const { key, job, everyMinutes = 5, isRepeat, isCron, payload, overlap, misfire, until } = operation
  const minutes = Math.max(everyMinutes, 1)
  const frequency = isRepeat
    ? { repeat: `FINISHED, +${minutes} MINUTES` }
    : isCron
      ? { cron: `*/${Math.min(minutes, 59)} * * * *` }
      : { every: minutes * 60_000 }
  return jobs.schedules.upsert<Payload>(scheduleKey(key), {
    job: jobName(job),
    ...frequency,
    payload: payload ?? {},
    ...(overlap !== undefined && { overlap }),
    ...(misfire !== undefined && { misfire: { kind: misfire, within: '1h' } }),
    ...(until !== undefined && { until: new Date(clock.now() + until * 1_000) }),
  } as Parameters<typeof jobs.schedules.upsert<Payload>>[1])
}

async function changeSchedule({ what = 'get', key, isStored }: Named<'schedule'>, world: World): Promise<unknown> {
  const { schedules } = world.jobs
  const name = isStored === false ? jobName(key) : scheduleKey(key)
  if (what !== 'runNow') return schedules[what](name)
  return known([await schedules.runNow(name)], world)
}

function pausable({ queue, job }: { readonly queue?: number; readonly job?: number }) {
  return job === undefined ? { queue: queueName(queue) } : { job: jobName(job) }
}

async function filterOf(setup: FilterSetup, world: World) {
  const { state, queue, job, group, tag, root, isLinked, before, limit = 20 } = setup
  const store = await world.jobs.store()
  const found = root === undefined ? null : await store.get(world.id(root))
  return {
    ...(state !== undefined && { state: state as 'ready' }),
    ...(queue !== undefined && { queue: queueName(queue) }),
    ...(job !== undefined && { job: jobName(job) }),
    ...(group !== undefined && { group: groupName(group) }),
    ...(tag !== undefined && { tag: tagName(tag) }),
    ...(root !== undefined && { root: found?.root ?? keyName() }),
    ...(isLinked && { isLinked }),
    ...(before !== undefined && { before: world.id(before) }),
    limit: Math.max(limit, 1),
  }
}

async function counts({ queue, job, isSum, oldest, root }: Named<'counts'>, world: World): Promise<unknown> {
  const store = await world.jobs.store()
  if (root !== undefined) {
    const found = await store.get(world.id(root))
    return store.counts({ root: found?.root ?? world.id(root) })
  }
  const found = await store.counts({
    ...(queue !== undefined && { queue: queueName(queue) }),
    ...(job !== undefined && { job: jobName(job) }),
    ...(isSum && { isSum }),
    ...(oldest && { oldest }),
  })
  const living = found.filter((each) => Object.values(each.counts).some((count) => count !== 0))
  return living.toSorted((a, b) => (`${a.queue} ${a.job}` < `${b.queue} ${b.job}` ? -1 : 1))
}

/** As the command line does to all jobs that match. */
async function changeAll(operation: Named<'retryAll' | 'cancelAll' | 'removeAll'>, world: World): Promise<unknown> {
  const store = await world.jobs.store()
  const ids = (await store.list(await filterOf(operation, world))).map(({ id }) => id)
  if (operation.op === 'retryAll') return store.retry(ids)
  if (operation.op === 'removeAll') return store.remove({ state: 'succeeded', ids, limit: 100 })
  const answers: unknown[] = []
  for (const id of ids) answers.push(await store.cancel(id))
  return answers
}

type OverHttp = Named<'replayDead' | 'purgeDead' | 'take' | 'settle' | 'extend' | 'copy' | 'delete' | 'change'>

/** What other programs do over HTTP. */
async function overHttp(operation: OverHttp, client: TreadleClient, world: World): Promise<unknown> {
  switch (operation.op) {
    case 'replayDead':
    case 'purgeDead': {
      const { queue, job, limit, olderThan } = operation
      const isAll = queue === undefined && job === undefined
      const filter = {
        ...(queue !== undefined && { queue: queueName(queue) }),
        ...(job !== undefined && { job: jobName(job) }),
        ...(isAll && { all: true }),
        ...(limit !== undefined && { limit: Math.max(limit, 1) }),
      }
      if (operation.op === 'replayDead') return client.dead.replayMany(filter)
      return client.dead.purge({ ...filter, ...(olderThan !== undefined && { olderThan: olderThan * 1_000 }) })
    }
    case 'take': {
      const { job, queue, limit = 1, lease = 3_600 } = operation
      const taken = await client.leases.take({
        jobs: [job === undefined ? '*' : jobName(job)],
        ...(queue !== undefined && { queues: [queueName(queue)] }),
        limit: Math.max(limit, 1),
        lease: Math.max(lease, 1) * 1_000,
      })
      world.leases.push(...taken)
      return taken
    }
    case 'settle': {
      const { held = 0, outcome = 'done', delay } = operation
      const lease = world.leases[Math.abs(held) % Math.max(world.leases.length, 1)]
      if (lease === undefined) return 'none held'
      const error = { message: 'a remote worker failed' }
      const settlement = {
        token: lease.token,
        outcome,
        ...(outcome === 'done' && { result: { by: 'remote' } }),
        ...((outcome === 'fail' || outcome === 'dead') && { error }),
        ...((outcome === 'fail' || outcome === 'release') && delay !== undefined && { delay: delay * 1_000 }),
      }
      return client.leases.settle(lease.id, settlement as Parameters<typeof client.leases.settle>[1])
    }
    case 'extend': {
      const { held = 0, lease: seconds = 60 } = operation
      const lease = world.leases[Math.abs(held) % Math.max(world.leases.length, 1)]
      if (lease === undefined) return 'none held'
      const { id, token } = lease
      return client.leases.extend({ leases: [{ id, token }], lease: Math.max(seconds, 1) * 1_000 } as never)
    }
    case 'copy': {
      const id = await client.jobs.copy(world.id(operation.ref))
      world.learn([id])
      return id
    }
    case 'delete':
      return client.jobs.delete(world.id(operation.ref))
    case 'change': {
      const { ref, priority, seconds, payload } = operation
      return client.jobs.change(world.id(ref), {
        ...(priority !== undefined && { priority }),
        ...(seconds !== undefined && { runAt: new Date(world.clock.now() + seconds * 1_000).toISOString() }),
        ...(payload !== undefined && { payload: payload as never }),
      })
    }
  }
}
