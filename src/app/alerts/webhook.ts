import { createHmac } from 'node:crypto'
import { TreadleError } from '../../core/errors.ts'
import { type Clock, pause } from '../../core/time/clock.ts'
import { version } from '../../core/version.ts'
import type { Alert, WebhookConfig } from './alert-options.ts'

const firstPauseMs = 500

/**
 * Posts an alert as JSON to the configured URL only: a redirect counts as a failure. Retries after network failures and after
 * responses with status 429 or 5xx. Errors name only the host, because the rest of the URL may be secret.
 */
export async function postAlert(alert: Alert, webhook: WebhookConfig, clock: Clock, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify(alert)
  for (let tries = 0; ; tries++) {
    const problem = await post(body, webhook, clock, signal)
    if (problem === null) return
    if (!problem.isPassing || tries >= webhook.retries || signal.aborted) {
      // The path and the query may be secret.
      const { host } = new URL(webhook.url)
      throw new TreadleError('REQUEST_FAILED', `The webhook at ${host} ${problem.text}`)
    }
    await pause(clock, firstPauseMs * 2 ** tries, signal)
  }
}

/** The value that a receiver verifies: the hex HMAC-SHA256 of the seconds, a dot and the body. */
export function signatureOf(body: string, secret: string, seconds: number): string {
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`
}

interface Problem {
  readonly text: string
  readonly isPassing: boolean
}

async function post(body: string, webhook: WebhookConfig, clock: Clock, signal: AbortSignal): Promise<Problem | null> {
  const late = new AbortController()
  const timer = clock.timer(webhook.timeoutMs, () => late.abort(), { unref: true })
  const seconds = Math.floor(clock.now() / 1_000)
  try {
    const answer = await fetch(webhook.url, {
      method: 'POST',
      body,
      redirect: 'manual',
      signal: AbortSignal.any([signal, late.signal]),
      headers: {
        ...webhook.headers,
        'content-type': 'application/json',
        'user-agent': `treadle/${version}`,
        ...(webhook.secret !== null && { 'x-treadle-signature': signatureOf(body, webhook.secret, seconds) }),
      },
    })
    await answer.body?.cancel()
    if (answer.ok) return null
    return { text: `answered ${answer.status}`, isPassing: answer.status === 429 || answer.status >= 500 }
  } catch {
    return {
      text: late.signal.aborted ? `did not answer within ${webhook.timeoutMs} ms` : 'could not be reached',
      isPassing: true,
    }
  } finally {
    timer.cancel()
  }
}
