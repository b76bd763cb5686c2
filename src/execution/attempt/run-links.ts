import type { JobDefinition } from '../../definition/definition.ts'
import { dispatchOptions } from '../../definition/dispatching/dispatch-options.ts'
import { payloadOf } from '../../definition/dispatching/draft.ts'
import type { Run } from '../../definition/dispatching/run.ts'
import type { ChildOptions, ChildOutcome, LinkOutcome } from '../../definition/dispatching/workflow.ts'
import { coordinationMissing } from '../../queue/backend/missing-coordination.ts'
import type { JobLink } from '../../queue/contract/store.ts'
import type { Waiter } from '../admit/handed-on.ts'
import type { ActiveRun } from './active-run.ts'
import { WaitSignal } from './control.ts'

/** A child that a running job creates. */
export interface ChildRequest {
  readonly run: ActiveRun
  readonly root: string
  readonly definition: JobDefinition
  readonly payload: unknown
  readonly key: string
  readonly options: Omit<ChildOptions, 'key'>
}

/** What a run needs from its program to create children. */
export interface ChildServices {
  /** The definition of a job that is given in any way in which a dispatch takes it. */
  definitionOf(given: unknown): JobDefinition
  dispatch(request: ChildRequest): Promise<Run>
}

export interface LinkServices {
  readonly children: ChildServices
  /** What a job waits for, verified and decrypted: see `openedLinks`. Undefined if the backend cannot inspect its jobs. */
  links(waiter: Waiter): Promise<readonly JobLink[] | undefined>
  /** The id shared by all jobs of the workflow that this job is part of. */
  rootOf(id: string): Promise<string>
}

/** The links of a run to other jobs: those it waited for, and those it creates. */
export class RunLinks {
  readonly #run: ActiveRun
  readonly #services: LinkServices
  readonly #made = new Map<string, number>()
  #root: Promise<string> | undefined

  constructor(run: ActiveRun, services: LinkServices) {
    this.#run = run
    this.#services = services
  }

  async dispatchChild(given: unknown, args: readonly unknown[]): Promise<Run> {
    const { children } = this.#services
    const definition = children.definitionOf(given)
    const { key = this.#nextKey(definition.job), ...options } = dispatchOptions(args[1]) as ChildOptions
    const payload = payloadOf(args)
    const run = this.#run
    this.#root ??= run.asked(() => this.#services.rootOf(run.lease.envelope.id))
    const request = { run, root: await this.#root, definition, payload, key, options }
    // A child that was stored although its answer was lost is found by its key.
    return run.asked(() => children.dispatch(request))
  }

  async children(): Promise<readonly ChildOutcome[]> {
    const children = await this.#links('child')
    if (children.some(({ waiting }) => waiting)) this.#run.leave(new WaitSignal())
    return children.map((link) => ({ ...outcomeOf(link), key: link.key as string }))
  }

  async dependencies(): Promise<readonly LinkOutcome[]> {
    return (await this.#links('dependency')).map(outcomeOf)
  }

  /** Counted when requested, not when stored, so that concurrent calls have an order too. */
  #nextKey(job: string): string {
    const count = (this.#made.get(job) ?? 0) + 1
    this.#made.set(job, count)
    return `${job}#${count}`
  }

  async #links(kind: JobLink['kind']): Promise<readonly JobLink[]> {
    const links = await this.#run.asked(() => this.#services.links(this.#run.lease.envelope))
    if (links === undefined) throw coordinationMissing('Workflows need a backend that can query its queue')
    return links.filter((link) => link.kind === kind)
  }
}

function outcomeOf({ id, job, state, result, error }: JobLink): LinkOutcome {
  return { id, job, state, result: result === null ? undefined : JSON.parse(result), error }
}
