import { logLevels } from '../../core/logger.ts'
import { longestDurationMs } from '../../core/time/duration.ts'
import { type ContextData, contextMethods, isContextData } from '../crossing-context.ts'
import { parseThrown } from '../thrown.ts'
import type { FromIsolate, IsolateModules, ToIsolate } from './messages.ts'

/** Parses a message; undefined if it is invalid. These functions never throw. */
export function parseFromIsolate(value: unknown): FromIsolate | undefined {
  return parsed(value, fromIsolate)
}

export function parseToIsolate(value: unknown): ToIsolate | undefined {
  return parsed(value, toIsolate)
}

type Fields = Readonly<Record<string, unknown>>
type Parsers<Message extends { readonly kind: string }> = {
  readonly [Kind in Message['kind']]: (fields: Fields) => (Message & { readonly kind: Kind }) | undefined
}

/** No method of a context takes more arguments. */
const mostArguments = 8
/** Of a line of a log, or of what is logged with it. */
export const longestLine = 100_000

const fromIsolate: Parsers<FromIsolate> = {
  unloadable: (fields) => withThrown(fields, (thrown) => ({ kind: 'unloadable', thrown })),
  threw: (fields) => withThrown(fields, (thrown) => ({ kind: 'threw', thrown })),
  uncaught: (fields) => withThrown(fields, (thrown) => ({ kind: 'uncaught', thrown })),
  ready: () => ({ kind: 'ready' }),
  call({ call, method, args }) {
    const known = contextMethods.find((name) => name === method)
    if (known === undefined || !isNumber(call) || !Array.isArray(args) || args.length > mostArguments) return undefined
    return { kind: 'call', call, method: known, args }
  },
  log({ level, message, fields }) {
    const known = logLevels.find((name) => name === level)
    if (known === undefined || !isText(message) || !(fields === undefined || isText(fields))) return undefined
    const said = { kind: 'log', level: known, message: message.slice(0, longestLine) } as const
    return fields === undefined ? said : { ...said, fields: fields.slice(0, longestLine) }
  },
  returned({ value, problem }) {
    if (problem === undefined) return { kind: 'returned', value }
    return isText(problem) ? { kind: 'returned', value, problem: problem.slice(0, longestLine) } : undefined
  },
  snoozed: ({ delayMs }) =>
    isNumber(delayMs) && delayMs >= 0 && delayMs <= longestDurationMs ? { kind: 'snoozed', delayMs } : undefined,
}

const toIsolate: Parsers<ToIsolate> = {
  load: ({ modules, parent }) => (isModules(modules) && isNumber(parent) ? { kind: 'load', modules, parent } : undefined),
  run: ({ program, context }) => (isText(program) && isContextData(context) ? runMessage(program, context) : undefined),
  begin: ({ openMs }) => (isNumber(openMs) ? { kind: 'begin', openMs } : undefined),
  abort({ reason }) {
    const thrown = parseThrown(reason)
    return thrown && { kind: 'abort', reason: thrown }
  },
  answer: ({ call, value }) => (isNumber(call) ? { kind: 'answer', call, value } : undefined),
  refusal: ({ call, thrown }) => {
    const known = parseThrown(thrown)
    return known !== undefined && isNumber(call) ? { kind: 'refusal', call, thrown: known } : undefined
  },
  end: () => ({ kind: 'end' }),
}

function parsed<Message extends { readonly kind: string }>(value: unknown, parsers: Parsers<Message>): Message | undefined {
  try {
    if (typeof value !== 'object' || value === null) return undefined
    const fields = value as Fields
    const { kind } = fields
    if (!isText(kind) || !Object.hasOwn(parsers, kind)) return undefined
    return parsers[kind as Message['kind']](fields)
  } catch {
    return undefined
  }
}

function withThrown<Message>({ thrown }: Fields, made: (thrown: NonNullable<ReturnType<typeof parseThrown>>) => Message) {
  const known = parseThrown(thrown)
  return known && made(known)
}

function runMessage(program: string, context: ContextData): ToIsolate & { readonly kind: 'run' } {
  return { kind: 'run', program, context }
}

function isModules(value: unknown): value is IsolateModules {
  if (typeof value !== 'object' || value === null) return false
  const { kind, path, config, url, coordination, folder, jobs } = value as Fields
  if (kind === 'module') return isText(path)
  const areTexts = Array.isArray(jobs) && jobs.every(isText)
  return kind === 'project' && [config, url, coordination].every(isTextOrNull) && isText(folder) && areTexts
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

function isTextOrNull(value: unknown): value is string | null {
  return value === null || isText(value)
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value)
}
