import type { Stall } from './stall-watch.ts'

const mostNames = 10
const remedy =
  "While a handler computes without a pause, nothing else in this process goes on. Run it in a thread: .isolate('thread')"

/** What is said of a standstill: how long, who did it as far as that is known, and what to do. */
export function stallText({ stalledMs, suspects }: Stall): string {
  const stood = `the event loop stood still for ${Math.round(stalledMs)} ms`
  const [only] = suspects
  if (suspects.length === 1 && only !== undefined)
    return `${stood} because of ${only.name} (${only.lease.envelope.id}). ${remedy}`
  const names = [...new Set(suspects.map(({ name }) => name))]
  const shown = names.slice(0, mostNames).join(', ') + (names.length > mostNames ? ` and ${names.length - mostNames} more` : '')
  return `${stood} while these jobs ran or ended: ${shown}. ${remedy}`
}
