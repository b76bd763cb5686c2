/** A worker as the others in its process see it. */
export interface ProcessMember {
  /** Whether the job that it would start next has to run alone. */
  readonly wantsToBeAlone: () => boolean
  /** Called when it may be able to start jobs again. */
  readonly onAdmitted: () => void
}

/**
 * The workers of one process, which die together. A job that runs alone, so that a death is certainly its own fault, must be the
 * only one of all of them: one process may work on several backends, or hold several instances.
 */
class ProcessRuns {
  readonly #busy = new Set<ProcessMember>()
  readonly #waiting = new Set<ProcessMember>()
  /** The member whose job runs alone or is about to: the others start nothing. */
  #alone: ProcessMember | null = null

  /** Whether the member may start a job now. If not, it is told when it should ask again. */
  admits(member: ProcessMember, isAlone: boolean): boolean {
    if (this.isClosedTo(member)) {
      this.#waiting.add(member)
      return false
    }
    if (!isAlone) return true
    this.#alone = member
    const isFree = this.#busy.size === 0 || (this.#busy.size === 1 && this.#busy.has(member))
    if (!isFree) this.#waiting.add(member)
    return isFree
  }

  isClosedTo(member: ProcessMember): boolean {
    const alone = this.#alone
    if (alone === null || alone === member) return false
    if (this.#busy.has(alone) || alone.wantsToBeAlone()) return true
    this.#alone = null
    return false
  }

  started(member: ProcessMember): void {
    this.#busy.add(member)
  }

  /** The member runs nothing any more. */
  rests(member: ProcessMember): void {
    this.#busy.delete(member)
    if (this.#alone === member && !member.wantsToBeAlone()) this.#alone = null
    if (this.#waiting.size === 0) return
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    for (const each of waiting) each.onAdmitted()
  }
}

export const thisProcess = new ProcessRuns()
