import { finalStates, isFinal, type JobState, jobStates } from '../../queue/contract/job-state.ts'
import { factKinds } from '../../queue/contract/transfer.ts'

/** What is wrong with a value; null if nothing is. */
export type Check = (value: unknown) => string | null

type Members = Readonly<Record<string, unknown>>

const isText = (value: unknown) => typeof value === 'string'
const isTextOrNull = (value: unknown) => value === null || isText(value)
/** Longer than any name or key of a dispatch, which never contain what some databases cannot store. */
const longestName = 1_024
const isName = (value: unknown) => typeof value === 'string' && value.length <= longestName && !/[\0\p{Surrogate}]/u.test(value)
const isNameOrNull = (value: unknown) => value === null || isName(value)
const isFlag = (value: unknown) => typeof value === 'boolean'
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0
const isTime = (value: unknown) => isCount(value) && (value as number) <= 8.64e15
const isTimeOrNull = (value: unknown) => value === null || isTime(value)
const isList = (value: unknown) => Array.isArray(value)
const isId = (value: unknown) =>
  isText(value) && /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(value as string)
const isStored = (value: unknown) => jobStates.includes(value as JobState) && value !== 'running'
const isEndOrNull = (value: unknown) => value === null || finalStates.some((state) => state === value)
const isUntil = (value: unknown) => value === 'started' || value === 'ended' || value === 'ever' || isTime(value)

type Shape = Readonly<Record<string, (value: unknown) => boolean>>

const occurrenceShape: Shape = {
  schedule: isName,
  at: isTime,
  jobId: isId,
  storedAt: isTime,
  outcome: isEndOrNull,
  startedAt: isTimeOrNull,
  finishedAt: isTimeOrNull,
}

const edgeShape: Shape = {
  id: isName,
  job: isNameOrNull,
  key: isNameOrNull,
  policy: (value) => ['fail', 'skip', 'ignore', 'continue', 'rescue'].some((policy) => policy === value),
  waiting: isFlag,
  end: (value) => value === null || (isObject(value) && (value.state === 'missing' || isFinal(value.state as JobState))),
}

const linksShape: Shape = {
  root: isName,
  parent: (value) => value === null || isId(value),
  longestWaitMs: isCount,
  givesUpAt: isTimeOrNull,
  ending: (value) => value === null || isObject(value),
  isDoomed: isFlag,
  edges: (value) => isList(value) && (value as unknown[]).every((edge) => problemOf(edge, edgeShape, '') === null),
}

const logShape: Shape = { attempt: isCount, first: isCount, last: isCount, bytes: isCount, text: isText }

const jobShape: Shape = {
  id: isId,
  number: (value) => value === null || isCount(value),
  job: isName,
  queue: isName,
  priority: (value) => Number.isSafeInteger(value),
  singleInstance: isFlag,
  group: isNameOrNull,
  identity: isText,
  payload: isText,
  signature: isTextOrNull,
  createdAt: isTime,
  runAt: isTime,
  uniqueKey: (value) => value === null || (isName(value) && (value as string).includes('\n')),
  uniqueUntil: isUntil,
  holdsLastingKey: isFlag,
  state: isStored,
  attempts: isCount,
  rescues: isCount,
  startedAt: isTimeOrNull,
  finishedAt: isTimeOrNull,
  owner: isTextOrNull,
  result: isTextOrNull,
  seal: isTextOrNull,
  progress: isTextOrNull,
  reason: isTextOrNull,
  errors: (value) => isList(value) && (value as unknown[]).every(isObject),
  schedule: isNameOrNull,
  occurrence: (value) => value === null || problemOf(value, occurrenceShape, '') === null,
  onceKeys: (value) => isList(value) && (value as unknown[]).every(isName),
  log: (value) => isList(value) && (value as unknown[]).every((chunk) => problemOf(chunk, logShape, '') === null),
  links: (value) => value === null || problemOf(value, linksShape, '') === null,
}

const goneShape: Shape = { root: isName, state: (value) => finalStates.some((state) => state === value), jobs: isCount }

export function checkUnit(value: unknown): string | null {
  if (!isObject(value) || !isList(value.jobs) || !isList(value.gone)) return 'a workflow has jobs and gone'
  const [jobs, gone] = [value.jobs as unknown[], value.gone as unknown[]]
  if (jobs.length === 0) return 'a workflow has at least one job'
  return firstOf([
    ...jobs.map((job) => problemOf(job, jobShape, 'job')),
    ...gone.map((each) => problemOf(each, goneShape, 'gone')),
  ])
}

const scheduleShape: Shape = {
  name: isName,
  expression: isText,
  timezone: isText,
  version: isText,
  definition: (value) => value === null || (isObject(value) && isText(value.text) && isTextOrNull(value.signature)),
  since: isTime,
  paused: isFlag,
  occurrences: (value) => isList(value) && (value as unknown[]).every((each) => problemOf(each, occurrenceShape, '') === null),
}

export function checkPaused(value: unknown): string | null {
  return isName(value) && value !== '' ? null : 'a queue must be a name'
}

export function checkSchedule(value: unknown): string | null {
  return problemOf(value, scheduleShape, 'schedule')
}

const factShapes: Readonly<Record<(typeof factKinds)[number], Shape>> = {
  numbers: { next: isCount },
  occurrence: { occurrence: (value) => problemOf(value, occurrenceShape, '') === null },
  once: { key: isName, until: isTime, result: isTextOrNull, seal: isTextOrNull },
  unique: { key: isName, jobId: isId, until: isTimeOrNull },
}

export function checkFact(value: unknown): string | null {
  const kind = isObject(value) ? factKinds.find((each) => each === value.kind) : undefined
  return kind === undefined ? `the kind of a fact is one of ${factKinds.join(', ')}` : problemOf(value, factShapes[kind], 'fact')
}

function problemOf(value: unknown, shape: Shape, what: string): string | null {
  if (!isObject(value)) return `${what} must be an object`
  const wrong = Object.keys(shape).find((name) => !(shape[name] as (value: unknown) => boolean)(value[name]))
  return wrong === undefined ? null : `${what}.${wrong} is missing or wrong`
}

function firstOf(problems: readonly (string | null)[]): string | null {
  return problems.find((problem) => problem !== null) ?? null
}

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
