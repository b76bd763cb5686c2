import { version } from '../../../core/version.ts'
import { HttpProblem } from '../../http/wire/http-problem.ts'
import type { Viewer } from '../access/viewer.ts'
import type { ViewDeps } from '../deps.ts'
import type { EngineView, Finding } from '../shared/views/engine.ts'

/**
 * The doctor reads much of the database, so only one check runs at a time, and its result is kept until another is
 * requested.
 */
export class Engine {
  readonly #deps: ViewDeps
  #findings: readonly Finding[] | null = null
  #lookedAt: number | null = null
  #looking: Promise<void> | null = null

  constructor(deps: ViewDeps) {
    this.#deps = deps
  }

  async view({ grant }: Viewer): Promise<EngineView> {
    refuseLimited(grant)
    const { jobs, service } = this.#deps
    const { backend, settings } = service.queue
    const upkeep = backend.upkeep
    const state = upkeep === undefined ? null : await upkeep.schema.state()
    return {
      backend: backend.kind,
      url: jobs.url,
      version,
      schema: state === null || upkeep === undefined ? null : { version: state.version, latest: upkeep.schema.latest },
      parts: [
        { name: 'Lists, searches and counts of jobs', has: backend.store !== undefined },
        { name: 'Locks and idempotency keys shared by workers', has: backend.coordination !== undefined },
        { name: 'Jobs in your own transactions', has: backend.transactions !== undefined },
        { name: 'Checks of the database (the doctor)', has: upkeep !== undefined },
        { name: 'Leases renewed while the event loop is blocked', has: backend.standIn !== undefined },
      ],
      keep: Object.entries(settings.keep).map(([name, keptMs]) => ({
        state: name,
        keptMs: Number.isFinite(keptMs) ? keptMs : null,
      })),
      findings: this.#findings,
      lookedAt: this.#lookedAt,
    }
  }

  async diagnose(viewer: Viewer): Promise<EngineView> {
    refuseLimited(viewer.grant)
    this.#looking ??= this.#look().finally(() => {
      this.#looking = null
    })
    await this.#looking
    return this.view(viewer)
  }

  async #look(): Promise<void> {
    const { service, clock } = this.#deps
    this.#findings = (await service.queue.backend.upkeep?.diagnose()) ?? []
    this.#lookedAt = clock.now()
  }
}

/** It describes the whole queue. */
function refuseLimited({ isLimited }: Viewer['grant']): void {
  if (isLimited) throw new HttpProblem('forbidden', 'The engine is shown to those who may see all queues')
}
