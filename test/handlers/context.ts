import { PermanentError, TreadleError } from '../../src/core/errors.ts'
import type { JobContext } from '../../src/definition/context.ts'
import { jobLogger } from '../../src/definition/job-logger.ts'

export interface TestContext<Payload> extends JobContext<Payload> {
  /** Ends the run as a timeout or a cancel would. */
  abort(reason: Error): void
  readonly warnings: readonly string[]
}

/** The first of two attempts of a job that nobody else has to do with. */
export function contextFor<Payload>(payload: Payload): TestContext<Payload> {
  const controller = new AbortController()
  const warnings: string[] = []
  const logger = jobLogger((level, message) => void (level === 'warn' && warnings.push(message)))
  return {
    id: '01890a5d-ac96-774b-bcce-b302099a8057',
    job: 'tested',
    name: 'tested',
    queue: 'default',
    group: null,
    payload,
    attempt: 1,
    maxAttempts: 2,
    occurrence: null,
    meta: {},
    tags: [],
    signal: controller.signal,
    logger,
    log: logger.info,
    progress: () => Promise.resolve(),
    heartbeat: () => Promise.resolve(true),
    transaction: () => Promise.reject(new Error('no built-in handler ends in a transaction')),
    completeIn: () => Promise.reject(new Error('no built-in handler ends in a transaction')),
    snooze() {
      throw new Error('no built-in handler snoozes')
    },
    dispatchChild: () => Promise.reject(new Error('no built-in handler has children')),
    children: () => Promise.resolve([]),
    dependencies: () => Promise.resolve([]),
    abort: (reason) => controller.abort(reason),
    warnings,
  }
}

/** What a run threw; it fails the test when the run succeeded. */
export async function thrownBy(run: () => unknown): Promise<Error> {
  try {
    await run()
  } catch (thrown) {
    if (thrown instanceof Error) return thrown
    throw new Error(`what was thrown is not an Error: ${String(thrown)}`)
  }
  throw new Error('nothing was thrown')
}

/** The code of a failure that is not to be retried. */
export function permanentCode(thrown: Error): string | undefined {
  return thrown instanceof PermanentError && thrown.cause instanceof TreadleError ? thrown.cause.code : undefined
}

/** The code of a failure that is to be retried. */
export function passingCode(thrown: Error): string | undefined {
  return thrown instanceof TreadleError ? thrown.code : undefined
}
