import { messageOf } from '../../core/errors.ts'
import { unknownOptions } from '../../core/options.ts'
import { shown } from '../../core/text/shown.ts'
import { type Duration, parseDuration } from '../../core/time/duration.ts'

/** Which jobs a rule covers. Without a queue or job, it covers all of them. */
interface Scope {
  readonly queue?: string
  readonly job?: string
}

interface RuleBase {
  /** Name of the alert. Default: derived from the rule. */
  readonly name?: string
  /** How long the rule must hold before the alert fires. */
  readonly for?: Duration
}

/** A condition on which an alert fires. */
export type AlertRule = RuleBase &
  (
    | {
        /** Fires when too large a share of the jobs that ended are dead. */
        readonly rule: 'failureRate'
        /** Threshold as a fraction, such as 0.05. */
        readonly above: number
        /** Time window. Default: 5m. */
        readonly over?: Duration
        /** Minimum number of ended jobs in the window for the rule to apply. Default: 20. */
        readonly atLeast?: number
        readonly queue?: string
        readonly job?: string
      }
    | ({
        /** Fires when the oldest ready job has waited too long, unless it or its queue is paused. */
        readonly rule: 'oldestAge'
        readonly above: Duration
      } & Scope)
    | ({
        /** Fires when there are too many dead jobs. */
        readonly rule: 'deadJobs'
        /** Default: 0. */
        readonly above?: number
      } & Scope)
    | {
        /** Fires when no worker is alive, or none that serves `queue`. `for` is 1m by default. */
        readonly rule: 'noWorker'
        readonly queue?: string
      }
    | {
        /** Fires when a run of a schedule is overdue. */
        readonly rule: 'scheduleMissed'
        /** Name of the schedule. Default: all schedules. */
        readonly schedule?: string
        /** How late a run may be before it counts as missed. Default: 1m. */
        readonly late?: Duration
      }
  )

/** An alert that started firing or was resolved. It contains no payloads, results or errors. */
export interface Alert {
  readonly name: string
  readonly rule: AlertRule['rule']
  readonly state: 'firing' | 'resolved'
  /** Human-readable description with the current figures. */
  readonly text: string
  /** When the condition began, in ISO 8601. */
  readonly since: string
  /** When this alert was sent, in ISO 8601. */
  readonly at: string
  /** URL of the queue, without passwords. */
  readonly url: string
}

/** Where to send a webhook, and how to sign it. */
export interface WebhookOptions {
  /** An http or https URL. Redirects are not followed. */
  readonly url: string
  /** Signs the request: the header `x-treadle-signature` is `t=SECONDS,v1=HMAC`. */
  readonly secret?: string
  /** Additional request headers. */
  readonly headers?: Readonly<Record<string, string>>
  /** Default: 10s. */
  readonly timeout?: Duration
  /** Default: 3. */
  readonly retries?: number
}

/** When to alert, and where to send alerts. */
export interface AlertOptions {
  readonly rules: readonly AlertRule[]
  /** How often the rules are evaluated. Default: 30s. */
  readonly every?: Duration
  /** Where to post alerts as JSON: a URL, or a URL with options. */
  readonly webhook?: string | WebhookOptions
  /** Called with each alert. If it throws or takes more than 30 seconds, it is called again at the next evaluation. */
  readonly notify?: (alert: Alert) => unknown
}

export interface AlertConfig {
  readonly rules: readonly RuleConfig[]
  readonly everyMs: number
  readonly webhook: WebhookConfig | null
  readonly notify: ((alert: Alert) => unknown) | null
}

export interface RuleConfig {
  readonly name: string
  readonly rule: AlertRule['rule']
  readonly queue: string | null
  readonly job: string | null
  readonly schedule: string | null
  /** A fraction, a count or milliseconds, depending on the rule. */
  readonly above: number
  readonly overMs: number
  readonly atLeast: number
  readonly forMs: number
}

export interface WebhookConfig {
  readonly url: string
  readonly secret: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly timeoutMs: number
  readonly retries: number
}

const membersOf: Readonly<Record<AlertRule['rule'], readonly string[]>> = {
  failureRate: ['above', 'over', 'atLeast', 'queue', 'job'],
  oldestAge: ['above', 'queue', 'job'],
  deadJobs: ['above', 'queue', 'job'],
  noWorker: ['queue'],
  scheduleMissed: ['schedule', 'late'],
}
const minuteMs = 60_000
const shortestEveryMs = 1_000

/** Null if there are no alerts. All problems are reported together. */
export function alertConfig(given: unknown, problems: string[]): AlertConfig | null {
  if (given === undefined) return null
  if (typeof given !== 'object' || given === null) {
    problems.push('alerts must be an object with rules, and webhook or notify')
    return null
  }
  const { rules, every = '30s', webhook, notify } = given as Partial<AlertOptions>
  const say = (problem: string) => problems.push(`alerts: ${problem}`)
  for (const problem of unknownOptions(given, ['rules', 'every', 'webhook', 'notify'])) say(problem)
  if (!Array.isArray(rules) || rules.length === 0) say('rules must be a list of rules')
  if (webhook === undefined && notify === undefined) say('give a webhook or notify, otherwise no one is notified')
  if (notify !== undefined && typeof notify !== 'function') say(`notify must be a function, got ${shown(notify)}`)
  const everyMs = milliseconds(every, 'every', say)
  if (everyMs < shortestEveryMs) say('every must be at least 1s')
  const parsed = Array.isArray(rules) ? rules.map((rule, at) => ruleOf(rule, `rules[${at}]`, say)) : []
  const names = parsed.map(({ name }) => name)
  for (const name of new Set(names.filter((each, at) => names.indexOf(each) !== at)))
    say(`two rules are called ${JSON.stringify(name)}: give them names`)
  return { rules: parsed, everyMs, webhook: webhook === undefined ? null : webhookOf(webhook, say), notify: notify ?? null }
}

type Say = (problem: string) => unknown

function ruleOf(given: unknown, where: string, say: Say): RuleConfig {
  const fields = Object(given) as Readonly<Record<string, unknown>>
  const { rule, name, queue = null, job = null, schedule = null } = fields
  const isKnown = typeof rule === 'string' && Object.hasOwn(membersOf, rule)
  if (!isKnown) say(`${where}.rule must be one of ${Object.keys(membersOf).join(', ')}, got ${shown(rule)}`)
  const kind = (isKnown ? rule : 'deadJobs') as AlertRule['rule']
  if (isKnown) {
    for (const problem of unknownOptions(fields, ['rule', 'name', 'for', ...membersOf[kind]])) say(`${where}: ${problem}`)
  }
  for (const [member, value] of Object.entries({ name, queue, job, schedule })) {
    if (value != null && (typeof value !== 'string' || value === ''))
      say(`${where}.${member} must be a string, got ${shown(value)}`)
  }
  const scope = [queue, job, schedule].filter((part) => part !== null).join(' ')
  return {
    name: typeof name === 'string' ? name : scope === '' ? kind : `${kind} ${scope}`,
    rule: kind,
    queue: queue as string | null,
    job: job as string | null,
    schedule: schedule as string | null,
    above: thresholdOf(kind, fields, where, say),
    overMs: milliseconds(fields.over ?? '5m', `${where}.over`, say),
    atLeast: wholeNumber(fields.atLeast ?? 20, `${where}.atLeast`, say),
    forMs: milliseconds(fields.for ?? (kind === 'noWorker' ? minuteMs : 0), `${where}.for`, say),
  }
}

function thresholdOf(
  kind: AlertRule['rule'],
  { above, late }: Readonly<Record<string, unknown>>,
  where: string,
  say: Say,
): number {
  switch (kind) {
    case 'failureRate':
      if (typeof above === 'number' && above >= 0 && above < 1) return above
      say(`${where}.above must be a fraction from 0 to below 1, such as 0.05, got ${shown(above)}`)
      return 0
    case 'oldestAge':
      return milliseconds(above, `${where}.above`, say)
    case 'deadJobs':
      return wholeNumber(above ?? 0, `${where}.above`, say)
    case 'scheduleMissed':
      return milliseconds(late ?? minuteMs, `${where}.late`, say)
    case 'noWorker':
      return 0
  }
}

function webhookOf(given: unknown, say: Say): WebhookConfig {
  const fields = (typeof given === 'string' ? { url: given } : Object(given)) as Readonly<Record<string, unknown>>
  const { url, secret = null, headers = {}, timeout = '10s', retries = 3 } = fields
  for (const problem of unknownOptions(fields, ['url', 'secret', 'headers', 'timeout', 'retries'])) say(`webhook: ${problem}`)
  if (typeof url !== 'string' || !/^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : ''))
    say('webhook.url must be an http or https address')
  if (secret !== null && (typeof secret !== 'string' || secret === '')) say('webhook.secret must be a string')
  if (typeof headers !== 'object' || headers === null || Object.values(headers).some((value) => typeof value !== 'string'))
    say('webhook.headers must be an object of strings')
  return {
    url: String(url),
    secret: secret as string | null,
    headers: headers as WebhookConfig['headers'],
    timeoutMs: milliseconds(timeout, 'webhook.timeout', say),
    retries: wholeNumber(retries, 'webhook.retries', say),
  }
}

function milliseconds(value: unknown, what: string, say: Say): number {
  try {
    return parseDuration(value as Duration, what)
  } catch (thrown) {
    say(messageOf(thrown))
    return minuteMs
  }
}

function wholeNumber(value: unknown, what: string, say: Say): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number
  say(`${what} must be a whole number, got ${shown(value)}`)
  return 0
}
