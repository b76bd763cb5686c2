import { createInterface } from 'node:readline/promises'
import { Interrupted } from './failure.ts'

export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Asks on the error output, so that data can be piped. Only "y" and "yes" are a yes. */
export async function confirm(question: string): Promise<boolean> {
  const asked = createInterface({ input: process.stdin, output: process.stderr })
  const interrupted = new AbortController()
  asked.on('SIGINT', () => interrupted.abort())
  try {
    const answer = await asked.question(`${question} [y/N] `, { signal: interrupted.signal })
    return /^y(?:es)?$/i.test(answer.trim())
  } catch (thrown) {
    throw interrupted.signal.aborted ? new Interrupted() : thrown
  } finally {
    asked.close()
  }
}
