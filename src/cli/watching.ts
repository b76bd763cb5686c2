import { pause, systemClock } from '../core/time/clock.ts'
import type { Output } from './output/output.ts'
import { stopRequest } from './working/signals.ts'

const clear = '\u001b[H\u001b[2J'

/** Answers again and again until Ctrl-C: in place of the last answer on a terminal, else one after the other. */
export async function watching(out: Output, intervalMs: number, answer: () => Promise<void>): Promise<void> {
  const { signal } = stopRequest(
    () => {},
    () => {},
  )
  while (!signal.aborted) {
    if (process.stdout.isTTY && !out.json) process.stdout.write(clear)
    await answer()
    await pause(systemClock, intervalMs, signal)
  }
}
