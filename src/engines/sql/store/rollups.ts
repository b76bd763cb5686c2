import { type Answer, wait } from '../../../core/answer.ts'
import type { BucketKey, RollupRows, StoredBucket } from '../../../queue/statistics/rollups.ts'
import type { SqlDatabase } from '../session.ts'
import { lockMutex } from '../transactions/mutexes.ts'

/** One row per bucket. One program at a time writes them, separately from job transactions. */
export class SqlRollupRows implements RollupRows {
  readonly #database: SqlDatabase

  constructor(database: SqlDatabase) {
    this.#database = database
  }

  keys(): Answer<readonly BucketKey[]> {
    return this.#database.all<BucketKey>('SELECT step, at FROM {rollups}')
  }

  since(at: number): Answer<readonly StoredBucket[]> {
    return this.#database.all<StoredBucket>('SELECT step, at, body FROM {rollups} WHERE at > ?', [at])
  }

  change(keys: readonly BucketKey[], decide: (bodies: readonly (string | null)[]) => readonly (string | null)[]): Answer<void> {
    return this.#database.transaction(function* (session) {
      yield* lockMutex(session, 'rollups')
      const starts = keys.map(({ at }) => at)
      const rows = yield* wait(session.all<StoredBucket>('SELECT step, at, body FROM {rollups} WHERE at IN (?)', [starts]))
      const bodyOf = ({ step, at }: BucketKey) => rows.find((row) => row.step === step && row.at === at)?.body ?? null
      const decided = decide(keys.map(bodyOf))
      const written = keys.flatMap(({ step, at }, index) => {
        const body = decided[index] ?? null
        return body === null ? [] : [{ step, at, body }]
      })
      const removed = keys.filter((_, index) => (decided[index] ?? null) === null)
      if (written.length > 0) yield* wait(session.upsert('rollups', ['step', 'at', 'body'], written, ['step', 'at'], ['body']))
      for (const length of new Set(removed.map(({ step }) => step))) {
        const gone = removed.filter(({ step }) => step === length).map(({ at }) => at)
        yield* wait(session.run('DELETE FROM {rollups} WHERE step = ? AND at IN (?)', [length, gone]))
      }
    })
  }
}
