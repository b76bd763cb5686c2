import { type Steps, wait } from '../../../core/answer.ts'
import type { Rate } from '../../../queue/contract/limits.ts'
import { Tokens } from '../../../queue/limits/rate-tokens.ts'
import { type RateLog, readRateLog } from '../../../queue/limits/rate-window.ts'
import type { SqlSession } from '../session.ts'

/** What rates have let through: one row per scope that let something through recently. */
export class Rates {
  /** What these scopes have let through. Only for a claim that runs alone. */
  *read(session: SqlSession, scopes: readonly string[]): Steps<RateLogs> {
    if (scopes.length === 0) return new RateLogs(new Map())
    const rows = yield* wait(
      session.all<{ scope: string; log: string }>('SELECT scope, log FROM {rates} WHERE scope IN (?)', [scopes]),
    )
    return new RateLogs(new Map(rows.map(({ scope, log }) => [scope, readRateLog(log)])))
  }

  /** Records what was taken, and deletes expired scopes, so that none stays forever. */
  *write(session: SqlSession, taken: readonly Tokens[], now: number): Steps<void> {
    if (taken.length === 0) return
    const rows = taken.map((tokens) => {
      const log = tokens.logAt(now)
      return { scope: tokens.scope, log: JSON.stringify(log), expires_at: (log.at(-1)?.[0] ?? now) + tokens.rate.perMs }
    })
    yield* wait(session.upsert('rates', ['scope', 'log', 'expires_at'], rows, ['scope'], ['log', 'expires_at']))
    yield* wait(session.run('DELETE FROM {rates} WHERE expires_at <= ?', [now]))
  }
}

export class RateLogs {
  readonly #logs: ReadonlyMap<string, RateLog>

  constructor(logs: ReadonlyMap<string, RateLog>) {
    this.#logs = logs
  }

  of(scope: string): RateLog {
    return this.#logs.get(scope) ?? []
  }

  tokens(scope: string, rate: Rate, now: number): Tokens {
    return new Tokens(scope, rate, this.of(scope), now)
  }
}
