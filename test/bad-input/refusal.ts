import { type ErrorCode, TreadleError, type TreadleOptions, treadle } from 'treadle'
import { expect } from 'vitest'

/** Expects one error of the library's own, with this code and a message that says what to do. */
export async function expectRefusal(act: () => Promise<unknown>, code: ErrorCode, says: RegExp): Promise<void> {
  const error = await refusalOf(act)
  expect(error, error.stack).toBeInstanceOf(TreadleError)
  expect(error.code, error.message).toBe(code)
  expect(error.message).toMatch(says)
}

export async function refusalOf(act: () => Promise<unknown>): Promise<TreadleError> {
  try {
    await act()
  } catch (thrown) {
    return thrown as TreadleError
  }
  throw new Error('It was not refused')
}

/** Opens a queue and closes it again. */
export async function opened(url: string, options: TreadleOptions = {}): Promise<void> {
  const jobs = treadle(url, options)
  try {
    await jobs.open()
  } finally {
    await jobs.close()
  }
}
