import { messageOf, TreadleError } from '../core/errors.ts'
import type { Isolation } from '../definition/policies/isolation.ts'

/** How a thread or process ended. */
export interface Death {
  readonly exitCode: number | null
  readonly signal: string | null
  readonly isOutOfMemory: boolean
  /** The uncaught error, or why the isolate could not be started. */
  readonly thrown?: unknown
}

/** The error of an attempt whose isolate ended prematurely. */
export function crashError(job: string, { kind, memoryBytes }: Omit<Isolation, 'from' | 'graceMs'>, death: Death): TreadleError {
  const how = howItEnded(death, memoryBytes)
  const message = `The ${kind} that ran job "${job}" ${how}, so the attempt failed. The worker continues.`
  return new TreadleError('ISOLATE_CRASHED', message, death.thrown === undefined ? {} : { cause: death.thrown })
}

function howItEnded({ exitCode, signal, isOutOfMemory, thrown }: Death, memoryBytes: number | null): string {
  if (isOutOfMemory) return `ran out of memory (${limitText(memoryBytes)})`
  if (thrown !== undefined) return `ended because of an uncaught error: ${messageOf(thrown)}`
  return signal === null ? `exited with code ${exitCode}` : `was ended by ${signal}`
}

function limitText(memoryBytes: number | null): string {
  if (memoryBytes === null) return "Node's own limit; isolate() takes another one as memory"
  return `its limit is ${megabytes(memoryBytes)} MB`
}

export function megabytes(bytes: number): number {
  return Math.floor(bytes / 1024 ** 2)
}
