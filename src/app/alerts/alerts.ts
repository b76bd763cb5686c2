import { messageOf, TreadleError } from '../../core/errors.ts'
import { randomToken } from '../../core/id.ts'
import type { Logger } from '../../core/logger.ts'
import { hostName, processId } from '../../core/process/environment.ts'
import { digest } from '../../core/text/digest.ts'
import { type Clock, pause, type Timer } from '../../core/time/clock.ts'
import type { Registry } from '../../definition/registry.ts'
import type { Coordination, LockHolder, QueueBackend, WholeBackend } from '../../queue/contract/contract.ts'
import { queueClock } from '../../queue/time/queue-clock.ts'
import type { Alert, AlertConfig, RuleConfig } from './alert-options.ts'
import { type AlertFacts, breachOf, overText } from './alert-rules.ts'
import { EndedJobs } from './ended-jobs.ts'
import { postAlert } from './webhook.ts'

export interface AlertsDeps {
  readonly backend: WholeBackend
  readonly registry: Pick<Registry, 'find'>
  readonly clock: Clock
  readonly logger: Logger
  /** URL of the queue, without passwords. */
  readonly url: string
}

/** Null if there are no rules, or if the backend cannot list its jobs. */
export function newAlerts(
  config: AlertConfig | null,
  { backend, ...deps }: Omit<AlertsDeps, 'backend'> & { readonly backend: QueueBackend },
): Alerts | null {
  if (config === null) return null
  if (backend.store !== undefined && backend.coordination !== undefined)
    return new Alerts(config, { ...deps, backend: backend as WholeBackend })
  deps.logger.warn(`The ${backend.kind} backend cannot be queried, so the alert rules are not evaluated`)
  return null
}

/** How long the queue remembers that an alert is firing after the last evaluation. */
const rememberedMs = 7 * 86_400_000
const leaderLock = 'alerts'

/**
 * Evaluates the rules periodically, in one process at a time: the one that holds the lock. A firing alert is also stored as a
 * lock, which outlives the process, so the next process neither repeats the alert nor forgets to resolve it. That lock is taken
 * after the delivery, so an alert that could not be delivered is sent again at the next evaluation.
 */
export class Alerts {
  readonly #config: AlertConfig
  readonly #deps: AlertsDeps
  readonly #clock: Clock
  readonly #holder: LockHolder = { owner: randomToken(), host: hostName(), pid: processId() }
  readonly #ended: EndedJobs
  readonly #stopping = new AbortController()
  /** Since when each rule has held, as seen by this process. */
  readonly #holdsSince = new Map<string, number>()
  /** The rules whose webhook has the alert that `notify` has not. */
  readonly #posted = new Set<string>()
  #timer: Timer | undefined
  #looking: Promise<void> = Promise.resolve()

  constructor(config: AlertConfig, deps: AlertsDeps) {
    this.#config = config
    this.#deps = deps
    this.#clock = queueClock(deps.backend, deps.clock)
    this.#ended = new EndedJobs(Math.max(...config.rules.map(({ overMs }) => overMs)))
  }

  start(): void {
    this.#next(0)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#timer?.cancel()
    await this.#looking
    await this.#deps.backend.coordination.unlock(leaderLock, this.#holder.owner).catch(() => false)
  }

  #next(delayMs: number): void {
    if (this.#stopping.signal.aborted) return
    this.#timer = this.#deps.clock.timer(
      delayMs,
      () => {
        this.#looking = this.#look()
          .catch((thrown: unknown) => this.#deps.logger.error(`The alert rules could not be evaluated: ${messageOf(thrown)}`))
          .then(() => this.#next(this.#config.everyMs))
      },
      { unref: true },
    )
  }

  async #look(): Promise<void> {
    const { coordination } = this.#deps.backend
    const leads = await coordination.lock(leaderLock, this.#holder, 3 * this.#config.everyMs)
    if (!leads.held) {
      // Another process leads now, so the observations of this one are out of date.
      this.#holdsSince.clear()
      this.#ended.forget()
      return
    }
    const facts = await this.#facts()
    for (const rule of this.#config.rules) {
      if (this.#stopping.signal.aborted) return
      await this.#judge(rule, facts, coordination)
    }
  }

  async #facts(): Promise<AlertFacts> {
    const { store } = this.#deps.backend
    const [counts, paused, workers, schedules] = await Promise.all([
      store.counts({ oldest: true }),
      store.paused(),
      store.workers.list(),
      store.schedules.list(),
    ])
    const now = this.#clock.now()
    this.#ended.add(counts, now)
    const expectedAfter = (name: string, last: number) => {
      const schedule = this.#deps.registry.find(name)?.fields.schedule
      return schedule?.kind === 'calendar' ? schedule.next(last) : null
    }
    return { now, counts, paused, workers, schedules, expectedAfter, endedIn: this.#ended.within(now) }
  }

  async #judge(rule: RuleConfig, facts: AlertFacts, coordination: Coordination): Promise<void> {
    const { now } = facts
    const breach = breachOf(rule, facts)
    const firingSince = await this.#firingSince(rule, coordination)
    if (breach === null) {
      this.#holdsSince.delete(rule.name)
      if (firingSince === null) {
        this.#posted.delete(rule.name)
        return
      }
      const isDelivered = await this.#deliver(rule, 'resolved', overText(rule, now - firingSince), firingSince, now)
      if (isDelivered) await coordination.unlock(lockOf(rule), firingOwner)
      return
    }
    const since = this.#holdsSince.get(rule.name) ?? now
    this.#holdsSince.set(rule.name, since)
    const isNew = firingSince === null
    if (isNew && (now - since < rule.forMs || !(await this.#deliver(rule, 'firing', `${rule.name}: ${breach}`, since, now))))
      return
    // Also renews the lock of an alert that is already firing, so it is remembered for as long as it fires.
    await coordination.lock(lockOf(rule), { ...this.#holder, owner: firingOwner }, rememberedMs)
  }

  /** Since when the alert has been firing, as it was delivered; null if it is not firing. */
  async #firingSince(rule: RuleConfig, coordination: Coordination): Promise<number | null> {
    const answer = await coordination.lock(lockOf(rule), this.#holder, 1_000)
    if (!answer.held) return answer.by.since
    await coordination.unlock(lockOf(rule), this.#holder.owner)
    return null
  }

  /** One that never answers must not keep the other alerts back. */
  async #notify(notify: NonNullable<AlertConfig['notify']>, alert: Alert): Promise<void> {
    const over = new AbortController()
    const late = pause(this.#clock, notifyMs, AbortSignal.any([over.signal, this.#stopping.signal])).then(() => {
      throw new TreadleError('REQUEST_FAILED', `notify did not return within ${notifyMs / 1_000} seconds`)
    })
    late.catch(() => {})
    try {
      await Promise.race([notify(alert), late])
    } finally {
      over.abort()
    }
  }

  /** Whether the alert was delivered. */
  async #deliver(rule: RuleConfig, state: Alert['state'], text: string, since: number, now: number): Promise<boolean> {
    const { webhook, notify } = this.#config
    const { logger, clock, url } = this.#deps
    const [began, at] = [new Date(since).toISOString(), new Date(now).toISOString()]
    const alert: Alert = Object.freeze({ name: rule.name, rule: rule.rule, state, text, since: began, at, url })
    try {
      if (webhook !== null && !this.#posted.has(alert.name)) {
        await postAlert(alert, webhook, clock, this.#stopping.signal)
        this.#posted.add(alert.name)
      }
      if (notify !== null) await this.#notify(notify, alert)
      this.#posted.delete(alert.name)
      return true
    } catch (thrown) {
      logger.error(`The alert "${rule.name}" (${state}) could not be delivered, and is sent again later: ${messageOf(thrown)}`)
      return false
    }
  }
}

const notifyMs = 30_000

/** The same for all processes, so that the next leader recognizes the lock. */
const firingOwner = 'firing'

/** Hashed because a rule's name may have any length. */
function lockOf({ name }: RuleConfig): string {
  return `alert:${digest(name)}`
}
