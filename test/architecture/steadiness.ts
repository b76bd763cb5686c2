import ts from 'typescript'
import type { Source } from './source.ts'

/**
 * What lets a test pass on one run and fail on the next: real time, chance without a seed, and too little patience. Files that need
 * real time or chance are listed with the reason why nothing depends on it.
 */
export interface Exception {
  /** A file, or a folder that ends in `/`. */
  readonly path: string
  readonly why: string
}

export const exceptions: readonly Exception[] = [
  { path: 'processes/program.ts', why: 'polls for a state of another process' },
  { path: 'processes/programs/', why: 'real programs: how long they take decides nothing' },
  { path: 'processes/storm.test.ts', why: 'orders the marks of several processes' },
  { path: 'processes/stopped-worker.test.ts', why: 'leaves a process stopped for longer than its leases last' },
  { path: 'world.ts', why: 'pauses between two looks at a state' },
  { path: 'worker/unsettled.test.ts', why: 'a handler that takes longer than a moment' },
  { path: 'deep/', why: 'orders the marks of several processes' },
  { path: 'isolation/modules/', why: 'handlers in real threads and processes' },
  { path: 'temporary-folder.ts', why: 'removes what killed runs left behind a day ago' },
  { path: 'transactions/completing-in.test.ts', why: 'starts a manual clock an hour after now' },
  { path: 'worker/limit.test.ts', why: 'replaces the clock of the process' },
  { path: 'docs/executing.ts', why: 'kills an example that never ends' },
]

/** A wait gives up only after this: on a busy machine everything takes long. */
const leastPatienceMs = 20_000
/** The `testTimeout` of `vitest.config.ts`. */
const usualTimeoutMs = 180_000

export function steadinessProblems(sources: readonly Source[], excepted: readonly Exception[] = exceptions): readonly string[] {
  return sources.flatMap((source) => [
    ...(isExcepted(source.path, excepted) ? [] : timeAndChance(source)),
    ...calls(source).flatMap(({ call, line }) => {
      const problem = impatience(call) ?? hurry(call) ?? unseeded(call) ?? chanceInRetries(call, source)
      return problem === undefined ? [] : [`${source.path}:${line} ${problem}`]
    }),
  ])
}

/** Exceptions that no file needs any more. */
export function staleExceptions(sources: readonly Source[], excepted: readonly Exception[] = exceptions): readonly string[] {
  return excepted
    .filter(
      ({ path }) => !sources.some((source) => isExcepted(source.path, [{ path, why: '' }]) && timeAndChance(source).length > 0),
    )
    .map(({ path }) => path)
}

function isExcepted(path: string, excepted: readonly Exception[]): boolean {
  return excepted.some((exception) => (exception.path.endsWith('/') ? path.startsWith(exception.path) : path === exception.path))
}

const globals = ['Date.now', 'Math.random', 'setTimeout()', 'setInterval()', 'performance.now', 'crypto.randomUUID']

function timeAndChance({ path, globals: used, imports }: Source): readonly string[] {
  return [
    ...used.filter(({ name }) => globals.includes(name)).map(({ name, line }) => `${path}:${line} uses ${name}`),
    ...imports
      .filter(
        ({ target, names }) =>
          target === 'node:timers/promises' && names.some((name) => /^(\*|setTimeout|setInterval)$/.test(name)),
      )
      .map(({ target, line }) => `${path}:${line} imports ${target}`),
  ]
}

function calls({ nodes }: Source): readonly { readonly call: ts.CallExpression; readonly line: number }[] {
  return nodes.filter(ts.isCallExpression).map((call) => {
    const file = call.getSourceFile()
    return { call, line: file.getLineAndCharacterOfPosition(call.getStart(file)).line + 1 }
  })
}

/** vitest looks for a second by default, which a busy machine needs for much less. */
function impatience(call: ts.CallExpression): string | undefined {
  const name = call.expression.getText()
  if (!['vi.waitFor', 'vi.waitUntil', 'expect.poll'].includes(name)) return undefined
  const options = call.arguments[1]
  // Given by a name, it is looked at where that is declared.
  if (options !== undefined && ts.isIdentifier(options)) return undefined
  const timeout = options === undefined ? undefined : member(options, 'timeout')
  const patienceMs = timeout === undefined ? 1_000 : Number(timeout.getText().replaceAll('_', ''))
  return patienceMs >= leastPatienceMs ? undefined : `${name} gives up too soon: give { timeout: ${leastPatienceMs} } or more`
}

const declaring = /^(?:(?:before|after)(?:All|Each)|(?:test|it|describe)(?:\.(?:each|for|only|skip|skipIf|runIf)\b.*)?)$/s

/** What `vitest.config.ts` gives a test is for a busy machine: only more makes sense. */
function hurry(call: ts.CallExpression): string | undefined {
  const { expression, arguments: given } = call
  if (!declaring.test(expression.getText())) return undefined
  const timeouts = given.map((argument) => member(argument, 'timeout') ?? argument).filter(ts.isNumericLiteral)
  return timeouts.some(({ text }) => Number(text) < usualTimeoutMs)
    ? 'gives up sooner than other tests: leave its timeout out'
    : undefined
}

function unseeded(call: ts.CallExpression): string | undefined {
  if (call.expression.getText() !== 'fc.assert') return undefined
  const [, options] = call.arguments
  return options !== undefined && member(options, 'seed') !== undefined ? undefined : 'fc.assert has no seed'
}

/** With the default policy, the pause before a retry is drawn by chance: almost nothing, or a second. Only jobs that run are retried. */
function chanceInRetries(call: ts.CallExpression, { nodes }: Source): string | undefined {
  const { expression } = call
  if (!ts.isPropertyAccessExpression(expression) || expression.name.text !== 'retries') return undefined
  const says = (names: readonly string[]) => nodes.some((node) => ts.isIdentifier(node) && names.includes(node.text))
  if (says(['ManualClock', 'clock', 'world']) || !says(['run', 'work'])) return undefined
  const [, policy] = call.arguments
  const isFixed = policy !== undefined && (ts.isIdentifier(policy) || ['jitter', 'strategy'].some((name) => member(policy, name)))
  return isFixed ? undefined : `retries() draws its pause by chance: give it jitter 'none'`
}

function member(object: ts.Node, name: string): ts.Node | undefined {
  if (!ts.isObjectLiteralExpression(object)) return undefined
  const found = object.properties.find((property) => property.name?.getText() === name)
  if (found === undefined) return undefined
  return ts.isPropertyAssignment(found) ? found.initializer : found
}
