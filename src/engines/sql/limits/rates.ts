import { type Steps, wait } from '../../../core/answer.ts'
import { readRateLog } from '../../../queue/rules/limits/rate-window.ts'
import type { Counted } from '../../../queue/rules/limits/rates.ts'
import type { SqlSession } from '../session.ts'

/** What these scopes have let through: one row per scope that let something through recently. */
export function* readRates(session: SqlSession, scopes: readonly string[]): Steps<ReadonlyMap<string, Counted>> {
  if (scopes.length === 0) return new Map()
  const rows = yield* wait(
    session.all<{ scope: string; log: string; expires_at: number }>(
      'SELECT scope, log, expires_at FROM {rates} WHERE scope IN (?)',
      [scopes],
    ),
  )
  return new Map(rows.map(({ scope, log, expires_at }) => [scope, { log: readRateLog(log), expiresAt: expires_at }]))
}

/** Records what was taken, and deletes expired scopes, so that none stays forever. */
export function* writeRates(session: SqlSession, rates: ReadonlyMap<string, Counted>, now: number): Steps<void> {
  if (rates.size === 0) return
  const rows = [...rates].map(([scope, { log, expiresAt }]) => ({ scope, log: JSON.stringify(log), expires_at: expiresAt }))
  yield* wait(session.upsert('rates', ['scope', 'log', 'expires_at'], rows, ['scope'], ['log', 'expires_at']))
  yield* wait(session.run('DELETE FROM {rates} WHERE expires_at <= ?', [now]))
}
