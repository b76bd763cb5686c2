import { TreadleError } from '../../core/errors.ts'
import type { Contents, Fact, MovedSchedule, MovedUnit } from '../../queue/contract/transfer.ts'
import { type Check, checkFact, checkPaused, checkSchedule, checkUnit } from './shapes.ts'

/** The first line of a file. */
export interface FileHeader {
  readonly treadle: 'export'
  readonly version: number
  /** Different for each export. */
  readonly id: string
  readonly from: string
  readonly at: string
}

export const fileVersion = 1

/** Any other line: one item each. `packed` ends a group that was taken out of the queue together, and `end` ends the file. */
export type FileLine =
  | { readonly job: MovedUnit['jobs'][number] }
  | { readonly workflow: MovedUnit }
  | { readonly schedule: MovedSchedule }
  | { readonly paused: string }
  | { readonly fact: Fact }
  | { readonly packed: string }
  | { readonly end: FileEnd }

export interface FileEnd {
  readonly jobs: number
  readonly lines: number
}

export function linesOf({ paused, schedules, units }: Contents): readonly FileLine[] {
  return [
    ...paused.map((queue) => ({ paused: queue })),
    ...schedules.map((schedule) => ({ schedule })),
    ...units.map((unit) => {
      const [job] = unit.jobs
      return unit.jobs.length === 1 && unit.gone.length === 0 && job !== undefined ? { job } : { workflow: unit }
    }),
  ]
}

/** The unit on this line; null if it holds something else. */
export function unitOf(line: FileLine): MovedUnit | null {
  if ('job' in line) return { jobs: [line.job], gone: [] }
  return 'workflow' in line ? line.workflow : null
}

export function readHeader(text: string): FileHeader {
  const value = parsed(text, 1)
  if (value.treadle !== 'export' || typeof value.id !== 'string' || value.id === '') {
    throw invalid(1, 'this is not the first line of an export of Treadle')
  }
  if (value.version !== fileVersion) {
    const message = `the file has version ${String(value.version)}, and this Treadle reads version ${fileVersion}`
    throw invalid(1, message)
  }
  return value as Readonly<Record<string, unknown>> & FileHeader
}

const checks: Readonly<Record<string, Check>> = {
  job: (value) => checkUnit({ jobs: [value], gone: [] }),
  workflow: checkUnit,
  schedule: checkSchedule,
  paused: checkPaused,
  fact: checkFact,
  packed: (value) => (typeof value === 'string' ? null : 'it must be a string'),
  end: (value) => (typeof value === 'object' && value !== null ? null : 'it must say how many there are'),
}

/** `line` is the number of the line, starting at 1. */
export function readLine(text: string, line: number): FileLine {
  const value = parsed(text, line)
  const [kind, ...others] = Object.keys(value)
  const check = kind !== undefined && Object.hasOwn(checks, kind) ? checks[kind] : undefined
  if (kind === undefined || check === undefined || others.length > 0) {
    throw invalid(line, `it is not one of ${Object.keys(checks).join(', ')}`)
  }
  if (isSound(value, kind, check)) return value
  throw invalid(line, check(value[kind]) ?? 'it cannot be read')
}

function isSound(value: Readonly<Record<string, unknown>>, kind: string, check: Check): value is FileLine {
  return check(value[kind]) === null
}

/** Payloads and results are texts here, so nothing that was exported comes close. Deeper data cannot be written as JSON again. */
const mostLevels = 100

/** Level by level, and not by recursion, which deep data would end. */
function isDeeper(value: object, levels: number): boolean {
  let level: readonly object[] = [value]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true
    level = level.flatMap((each) => Object.values(each).filter(isObject))
  }
  return false
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function parsed(text: string, line: number): Readonly<Record<string, unknown>> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw invalid(line, 'it is not JSON, or is truncated', cause)
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw invalid(line, 'it is not a JSON object')
  if (isDeeper(value, mostLevels)) throw invalid(line, `it is nested deeper than ${mostLevels} levels`)
  return value as Readonly<Record<string, unknown>>
}

export function invalid(line: number, why: string, cause?: unknown): TreadleError {
  return new TreadleError('IMPORT_INVALID', `Line ${line}: ${why}. Nothing of the file was imported`, { cause })
}
