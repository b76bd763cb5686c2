import { hasComputed, type Stall } from './stall-watch.ts'

const mostNames = 10
const remedy =
  "While a handler computes without a pause, nothing else in this process runs. Run it in a thread: .isolate('thread')"

/** The log message for a stall: how long it took, what caused it if known, and what to do. */
export function stallText(stall: Stall): string {
  const { stalledMs, suspects } = stall
  const stood = `the event loop was blocked for ${Math.round(stalledMs)} ms`
  if (!hasComputed(stall)) return heldUpText(stood, stall)
  const [only] = suspects
  if (suspects.length === 1 && only !== undefined)
    return `${stood} because of ${only.name} (${only.lease.envelope.id}). ${remedy}`
  return `${stood} while these jobs ran or ended: ${namesOf(suspects)}. ${remedy}`
}

function heldUpText(stood: string, { computedMs = 0, suspects }: Stall): string {
  return `${stood}, and this process computed for only ${Math.round(computedMs)} ms of that: it was stopped (SIGSTOP, a machine or a container that was paused), the machine had no time for it, or a handler waited in a synchronous call such as execSync. These jobs ran or ended meanwhile: ${namesOf(suspects)}`
}

function namesOf(runs: Stall['suspects']): string {
  const names = [...new Set(runs.map(({ name }) => name))]
  return names.slice(0, mostNames).join(', ') + (names.length > mostNames ? ` and ${names.length - mostNames} more` : '')
}
