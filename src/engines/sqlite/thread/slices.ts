import type { Envelope } from '../../../envelope/envelope.ts'
import { CountChanges } from '../../sql/lanes/counts.ts'
import { Refused } from '../fast-path/fast-parts.ts'
import type { FastPaths } from '../fast-path/fast-paths.ts'
import { type FlatEnvelopes, unflattened } from '../fast-path/flat-envelopes.ts'
import type { FileDatabase } from '../file/file-database.ts'

/**
 * A batch that arrives in slices, each stored on arrival in a transaction that stays open. If the fast path refuses one of them,
 * all are rolled back, and the rules store the whole batch at its end.
 */
export class Slices {
  readonly #database: FileDatabase
  readonly #flats: FlatEnvelopes[] = []
  readonly #counts = new CountChanges()
  #fastPaths: FastPaths | null

  constructor(database: FileDatabase, fastPaths: FastPaths | null) {
    this.#database = database
    this.#fastPaths = fastPaths
  }

  /** If this fails, nothing of the batch is stored. */
  add(flat: FlatEnvelopes): void {
    if (this.#fastPaths !== null && !this.#isStored(flat, this.#fastPaths)) this.drop()
    this.#flats.push(flat)
  }

  /** The whole batch if the rules have to store it; null if it is stored. */
  commit(): readonly Envelope[] | null {
    const fastPaths = this.#fastPaths
    if (fastPaths === null) return this.#flats.flatMap(unflattened)
    try {
      fastPaths.writeCounts(this.#counts)
      this.#database.commit()
      return null
    } catch (thrown) {
      this.drop()
      throw thrown
    }
  }

  /** From now on, the rules have to store the batch. */
  drop(): void {
    this.#fastPaths = null
    this.#database.rollback()
  }

  #isStored(flat: FlatEnvelopes, fastPaths: FastPaths): boolean {
    if (!this.#database.isOpen) this.#database.begin()
    try {
      return fastPaths.storeSlice(flat, this.#counts)
    } catch (thrown) {
      if (thrown instanceof Refused) return false
      this.drop()
      throw thrown
    }
  }
}
