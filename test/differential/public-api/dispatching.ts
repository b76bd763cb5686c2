import type { DispatchOptions, Step, WorkflowRun } from 'treadle'
import { groupName, jobName, keyName, queueName, tagName, untilOf } from './definitions.ts'
import type { ApiOperation, DispatchSetup, StepSetup } from './program.ts'
import type { World } from './world.ts'

export function dispatchOptions(setup: DispatchSetup, world: World): DispatchOptions {
  const { delay, at, queue, priority, retries, group, idempotencyKey, tags, meta, dependsOn, onDependencyFailure, waitAtMost } =
    setup
  return {
    ...(delay !== undefined && { delay: Math.max(delay, 0) * 1_000 }),
    ...(delay === undefined && at !== undefined && { at: new Date(world.clock.now() + at * 1_000) }),
    ...(queue !== undefined && { queue: queueName(queue) }),
    ...(priority !== undefined && { priority }),
    ...(retries !== undefined && { retries }),
    ...(group !== undefined && { group: group === null ? null : groupName(group) }),
    ...keyOptions(setup),
    ...(idempotencyKey !== undefined && { idempotencyKey: idempotencyKey === null ? null : `once-${idempotencyKey}` }),
    ...(tags !== undefined && { tags: tags.map(tagName) }),
    ...(meta !== undefined && { meta }),
    ...(dependsOn !== undefined && dependsOn.length > 0 && { dependsOn: dependsOn.map((ref) => world.id(ref)) }),
    ...(onDependencyFailure !== undefined && { onDependencyFailure }),
    ...(waitAtMost !== undefined && { waitAtMost: Math.max(waitAtMost, 1) * 1_000 }),
  }
}

function keyOptions({ unique, uniqueUntil, onConflict, debounce, maxWait, throttle }: DispatchSetup): DispatchOptions {
  if (unique === null) return { unique }
  if (unique !== undefined) {
    const until = uniqueUntil === undefined ? {} : { until: untilOf(uniqueUntil) }
    return { unique: { key: keyName(unique), ...until, ...(onConflict !== undefined && { onConflict }) } }
  }
  if (debounce !== undefined) {
    const time = Math.max(debounce, 1) * 1_000
    return { debounce: { time, ...(maxWait !== undefined && { maxWait: time + maxWait * 1_000 }) } }
  }
  return throttle === undefined ? {} : { throttle: Math.max(throttle, 1) * 1_000 }
}

function stepOf({ job, payload = {}, options = {} }: StepSetup, world: World): Step {
  return { job: jobName(job), payload, options: dispatchOptions(options, world) }
}

type Workflows = Extract<ApiOperation, { readonly op: 'chain' | 'batch' | 'workflow' }>

export function dispatchWorkflow(operation: Workflows, world: World): Promise<WorkflowRun> {
  const { jobs } = world
  const { steps = [] } = operation
  if (operation.op === 'chain') return jobs.chain(steps.map((step) => stepOf(step, world)))
  if (operation.op === 'batch') {
    const { onSuccess, onFailure, onComplete } = operation
    return jobs.batch(
      steps.map((step) => stepOf(step, world)),
      {
        ...(onSuccess !== undefined && { onSuccess: stepOf(onSuccess, world) }),
        ...(onFailure !== undefined && { onFailure: stepOf(onFailure, world) }),
        ...(onComplete !== undefined && { onComplete: stepOf(onComplete, world) }),
      },
    )
  }
  const workflow = jobs.workflow()
  for (const [index, step] of steps.entries()) {
    const after = (step.after ?? []).map((each) => `step-${Math.abs(each) % Math.max(index, 1)}`)
    const { onFailure } = step
    workflow.add(stepOf(step, world), {
      name: `step-${index}`,
      ...(index > 0 && after.length > 0 && { after: [...new Set(after)] }),
      ...(onFailure !== undefined && { onFailure }),
    })
  }
  return workflow.dispatch()
}
