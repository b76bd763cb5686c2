import { dispatchOptions } from '../../definition/dispatching/dispatch-options.ts'
import { payloadOf } from '../../definition/dispatching/draft.ts'
import type { Run } from '../../definition/dispatching/run.ts'
import type { ChildOptions, ChildOutcome, LinkOutcome } from '../../definition/dispatching/workflow.ts'
import { coordinationMissing } from '../../queue/contract/missing-coordination.ts'
import type { JobLink } from '../../queue/contract/store.ts'
import type { Waiter } from '../admit/handed-on.ts'
import type { ActiveRun } from './active-run.ts'
import { WaitSignal } from './control.ts'

/** A child that a running job creates. */
export interface ChildRequest {
  readonly run: ActiveRun
  readonly root: string
  readonly job: string
  readonly payload: unknown
  readonly key: string
  readonly options: Omit<ChildOptions, 'key'>
}

export interface LinkServices {
  dispatchChild(request: ChildRequest): Promise<Run>
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

  async dispatchChild(job: string, args: readonly unknown[]): Promise<Run> {
    const { key = this.#nextKey(job), ...options } = dispatchOptions(args[1]) as ChildOptions
    const payload = payloadOf(args)
    this.#root ??= this.#services.rootOf(this.#run.lease.envelope.id)
    return this.#services.dispatchChild({ run: this.#run, root: await this.#root, job, payload, key, options })
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
    const links = await this.#services.links(this.#run.lease.envelope)
    if (links === undefined) throw coordinationMissing('Workflows need a backend that can look into its queue')
    return links.filter((link) => link.kind === kind)
  }
}

function outcomeOf({ id, job, state, result, error }: JobLink): LinkOutcome {
  return { id, job, state, result: result === null ? undefined : JSON.parse(result), error }
}
