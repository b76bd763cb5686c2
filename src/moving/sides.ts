import { existsSync } from 'node:fs'
import { databaseFile, openBackend } from '../app/config/open-backend.ts'
import { settingsOf } from '../app/config/options.ts'
import { TreadleError } from '../core/errors.ts'
import { workingFolder } from '../core/process/environment.ts'
import type { QueueBackend } from '../queue/contract/contract.ts'
import type { Source } from './mover.ts'

/** A URL, or an open backend, which stays open. */
export type Place = string | QueueBackend

export interface Side extends AsyncDisposable {
  readonly backend: QueueBackend
  /** The same each time it is opened. */
  readonly name: string
}

/** Nothing is signed here, so no keys are needed. */
export async function openSide(place: Place): Promise<Side> {
  if (typeof place !== 'string') return { backend: place, name: place.kind, [Symbol.asyncDispose]: async () => {} }
  const { backend } = await openBackend(place, settingsOf({}))
  return { backend, name: place, [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose]() }
}

/** Does not create a missing file. */
export async function openSource(place: Place): Promise<AsyncDisposable & { readonly source: Source }> {
  const file = typeof place === 'string' ? databaseFile(place, workingFolder()) : null
  if (file !== null && !existsSync(file)) {
    throw new TreadleError('DATABASE_NOT_FOUND', `There is no database at ${file} to take jobs from; is the path right?`)
  }
  const side = await openSide(place)
  const { backend } = side
  if (isSource(backend)) return { source: backend, [Symbol.asyncDispose]: () => side[Symbol.asyncDispose]() }
  await side[Symbol.asyncDispose]()
  const message = `Jobs cannot be moved out of ${backend.kind}: nobody can look at what waits in it. Let its workers finish them`
  throw new TreadleError('CAPABILITY_MISSING', message)
}

function isSource(backend: QueueBackend): backend is Source {
  return backend.store !== undefined && backend.coordination !== undefined && backend.transfer !== undefined
}
