import { createHmac } from 'node:crypto'
import { TreadleError } from '../../core/errors.ts'
import { type Clock, pause } from '../../core/time/clock.ts'
import { version } from '../../core/version.ts'
import type { Alert, WebhookConfig } from './alert-options.ts'

const firstPauseMs = 500

/**
 * Posts an alert as JSON to the address that the config names, and to no other: a redirection is a failure. It is tried again after
 * failures of the network and answers of 429 and 5xx. What it throws names the host alone: the rest of the address may be a secret.
 */
export async function postAlert(alert: Alert, webhook: WebhookConfig, clock: Clock, signal: AbortSignal): Promise<void> {
  const body = JSON.stringify(alert)
  for (let tries = 0; ; tries++) {
    const problem = await post(body, webhook, clock, signal)
    if (problem === null) return
    if (!problem.isPassing || tries >= webhook.retries || signal.aborted) {
      // Its path and its parameters may be secret.
      const { host } = new URL(webhook.url)
      throw new TreadleError('REQUEST_FAILED', `The webhook at ${host} ${problem.text}`)
    }
    await pause(clock, firstPauseMs * 2 ** tries, signal)
  }
}

/** What a receiver checks: the HMAC-SHA256 of the seconds, a dot and the body, as hexadecimal digits. */
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
