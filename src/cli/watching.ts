import { pause, systemClock } from '../core/time/clock.ts'
import type { Output } from './output/output.ts'
import { stopRequest } from './working/signals.ts'

const clear = '\u001b[H\u001b[2J'

/** Prints the answer again and again until Ctrl-C: replacing the last one on a terminal, otherwise one after the other. */
export async function watching(out: Output, intervalMs: number, answer: () => Promise<void>): Promise<void> {
  const { signal } = stopRequest()
  while (!signal.aborted) {
    if (process.stdout.isTTY && !out.json) process.stdout.write(clear)
    await answer()
    await pause(systemClock, intervalMs, signal)
  }
}
