import { existsSync } from 'node:fs'
import { type BackendPlace, placeOfBackend } from '../app/config/backend-place.ts'
import { databaseFile, openBackend } from '../app/config/open-backend.ts'
import { settingsOf } from '../app/config/settings.ts'
import { TreadleError } from '../core/errors.ts'
import { workingFolder } from '../core/process/environment.ts'
import type { QueueBackend } from '../queue/contract/contract.ts'
import type { Source } from './mover.ts'

/** A URL, also with the coordination store of a broker, or an open backend, which stays open. */
export type Place = string | BackendPlace | QueueBackend

export interface Side extends AsyncDisposable {
  readonly backend: QueueBackend
  /** The same each time it is opened. */
  readonly name: string
}

/** Nothing is signed here, so no keys are needed. */
export async function openSide(place: Place): Promise<Side> {
  if (isOpen(place)) return { backend: place, name: place.kind, [Symbol.asyncDispose]: async () => {} }
  const { url, coordination } = placeOfBackend(place)
  const { backend } = await openBackend(url, settingsOf(coordination === undefined ? {} : { coordination }))
  return { backend, name: url, [Symbol.asyncDispose]: () => backend[Symbol.asyncDispose]() }
}

/** Does not create a missing file. */
export async function openSource(place: Place): Promise<AsyncDisposable & { readonly source: Source }> {
  const file = isOpen(place) ? null : databaseFile(placeOfBackend(place).url, workingFolder())
  if (file !== null && !existsSync(file)) {
    throw new TreadleError('DATABASE_NOT_FOUND', `There is no database at ${file} to take jobs from; is the path right?`)
  }
  const side = await openSide(place)
  const { backend } = side
  if (isSource(backend)) return { source: backend, [Symbol.asyncDispose]: () => side[Symbol.asyncDispose]() }
  await side[Symbol.asyncDispose]()
  const message = `Jobs cannot be moved out of ${backend.kind} alone, which cannot list them. Give it a coordination store, and they pass through that: --coordination sqlite:passing.db, or from: { url, coordination }`
  throw new TreadleError('CAPABILITY_MISSING', message)
}

function isOpen(place: Place): place is QueueBackend {
  return typeof place !== 'string' && 'kind' in place
}

function isSource(backend: QueueBackend): backend is Source {
  return backend.store !== undefined && backend.coordination !== undefined && backend.transfer !== undefined
}
