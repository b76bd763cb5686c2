import { createInterface } from 'node:readline/promises'
import { Interrupted } from './failure.ts'

export function canAsk(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true
}

/** Asks on standard error, so that data can be piped. Only "y" and "yes" count as yes. */
export async function confirm(question: string): Promise<boolean> {
  return /^y(?:es)?$/i.test(await ask(`${question} [y/N] `))
}

/**
 * Asks for one of several values, by number or by name, until the answer is valid. An empty answer takes the suggested
 * one.
 */
export async function select<Value extends string>(
  question: string,
  values: readonly Value[],
  titles: Readonly<Record<Value, string>>,
  suggested: Value,
): Promise<Value> {
  const lines = values.map((value, index) => `  ${index + 1}) ${titles[value]}`)
  const prompt = `${[`${question}:`, ...lines].join('\n')}\nNumber or name [${suggested}]: `
  for (;;) {
    const answer = (await ask(prompt)).toLowerCase()
    const chosen = answer === '' ? suggested : (values[Number(answer) - 1] ?? values.find((value) => value === answer))
    if (chosen !== undefined) return chosen
  }
}

async function ask(prompt: string): Promise<string> {
  const asked = createInterface({ input: process.stdin, output: process.stderr })
  const interrupted = new AbortController()
  asked.on('SIGINT', () => interrupted.abort())
  try {
    return (await asked.question(prompt, { signal: interrupted.signal })).trim()
  } catch (thrown) {
    throw interrupted.signal.aborted ? new Interrupted() : thrown
  } finally {
    asked.close()
  }
}
