import { TreadleError } from '../../core/errors.ts'
import { refuseUnknownOptions } from '../../core/options.ts'
import { shown } from '../../core/text/shown.ts'
import { checkedStep, type Step } from '../../definition/dispatching/workflow.ts'
import { keyProblem } from '../../definition/names.ts'
import type { FailurePolicy } from '../../envelope/envelope.ts'
import type { JoinOptions } from '../dispatching/dispatches.ts'
import type { WorkflowRun } from './workflow-run.ts'

/** A reference to a step of a workflow. */
export interface WorkflowNode {
  readonly name: string
}

/** Options of a workflow step. */
export interface NodeOptions {
  /** Name by which other steps refer to this one. Default: the key of the job, with a number if that is taken. */
  readonly name?: string
  /** The steps that this one waits for: return values of `add`, or names, which may be added later. */
  readonly after?: string | WorkflowNode | readonly (string | WorkflowNode)[]
  /** What happens to this step if one of them fails. Default: it becomes dead too. With `rescue`, it runs only in that case. */
  readonly onFailure?: FailurePolicy
}

/** A step and the indexes of the steps that it waits for. */
export interface WorkflowStep {
  readonly step: Step
  readonly waits: readonly { readonly on: number; readonly onFailure: FailurePolicy }[]
}

interface AddedStep {
  readonly step: Step
  readonly name: string
  readonly after: readonly string[]
  readonly onFailure: FailurePolicy
}

const policies: readonly FailurePolicy[] = ['fail', 'skip', 'ignore', 'continue', 'rescue']

/** Steps with arbitrary dependencies but no circular ones, to be dispatched together. */
export class Workflow<Sent = Promise<WorkflowRun>> {
  readonly #steps = new Map<string, AddedStep>()
  readonly #send: (steps: readonly WorkflowStep[], options: JoinOptions) => Sent

  constructor(send: (steps: readonly WorkflowStep[], options: JoinOptions) => Sent) {
    this.#send = send
  }

  /** Adds a step. Pass the returned node, or its name, as `after` of other steps. */
  add(step: Step, options: NodeOptions = {}): WorkflowNode {
    const { job } = checkedStep(step)
    refuseUnknownOptions(options, ['name', 'after', 'onFailure'], `Step "${job}" of a workflow`)
    const { onFailure = 'fail', after = [], name = this.#freeName(job) } = options
    const names = (Array.isArray(after) ? after : [after]).map(nameOf)
    const problems = [
      keyProblem(name, 'name'),
      this.#steps.has(name) ? `there is already a step "${name}"` : undefined,
      names.includes(undefined) ? 'after takes steps as add() returned them, or their names' : undefined,
      policies.includes(onFailure) ? undefined : `onFailure must be one of ${policies.join(', ')}, got ${shown(onFailure)}`,
    ].filter((problem) => problem !== undefined)
    if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `Step "${name}" of a workflow: ${problems.join('; ')}`)
    this.#steps.set(name, { step, name, after: names as readonly string[], onFailure })
    return { name }
  }

  /** Stores all jobs or none. The result of the workflow is that of the step added last. */
  dispatch(options: JoinOptions = {}): Sent {
    const steps = [...this.#steps.values()]
    this.#refuseUnsound(steps)
    const places = new Map(steps.map(({ name }, index) => [name, index]))
    return this.#send(
      steps.map(({ step, after, onFailure }) => ({
        step,
        waits: after.map((name) => ({ on: places.get(name) as number, onFailure })),
      })),
      options,
    )
  }

  #freeName(job: string): string {
    let name = job
    for (let number = 2; this.#steps.has(name); number++) name = `${job}#${number}`
    return name
  }

  #refuseUnsound(steps: readonly AddedStep[]): void {
    const unknown = steps.flatMap(({ name, after }) =>
      after.filter((each) => !this.#steps.has(each)).map((each) => `step "${name}" comes after "${each}", which was not added`),
    )
    const circle = unknown.length > 0 ? undefined : this.#circle(steps)
    const problems = [
      ...(steps.length === 0 ? ['it has no steps: add one with add()'] : []),
      ...unknown,
      ...(circle === undefined ? [] : [`its steps form a cycle: ${circle.join(' -> ')}`]),
    ]
    if (problems.length > 0) throw new TreadleError('CONFIG_INVALID', `The workflow cannot be dispatched: ${problems.join('; ')}`)
  }

  /**
   * The names on a circular dependency, with the first one repeated at the end. Repeatedly removes steps that wait for nothing;
   * the rest is circular.
   */
  #circle(steps: readonly AddedStep[]): readonly string[] | undefined {
    const left = new Map(steps.map(({ name, after }) => [name, new Set(after)]))
    const followers = new Map<string, string[]>()
    for (const { name, after } of steps) for (const each of after) followers.set(each, [...(followers.get(each) ?? []), name])
    const free = steps.filter(({ after }) => after.length === 0).map(({ name }) => name)
    for (let name = free.pop(); name !== undefined; name = free.pop()) {
      left.delete(name)
      for (const follower of followers.get(name) ?? []) {
        const waits = left.get(follower)
        waits?.delete(name)
        if (waits?.size === 0) free.push(follower)
      }
    }
    const start = left.keys().next().value
    return start === undefined ? undefined : walkCircle(start, left)
  }
}

function nameOf(node: unknown): string | undefined {
  const name = typeof node === 'object' && node !== null && 'name' in node ? node.name : node
  return typeof name === 'string' ? name : undefined
}

/** Each of these steps waits for another one of them, so following the dependencies eventually returns to a visited step. */
function walkCircle(start: string, waits: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const trail: string[] = []
  let name = start
  while (!trail.includes(name)) {
    trail.push(name)
    name = [...(waits.get(name) ?? [])].find((each) => waits.has(each)) as string
  }
  return [...trail.slice(trail.indexOf(name)), name]
}
