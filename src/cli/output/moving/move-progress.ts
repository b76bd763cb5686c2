import { stopwatch } from '../../../core/time/clock.ts'
import type { MoveProgress } from '../../../moving/index.ts'
import type { Output } from '../output.ts'

const barWidth = 24
const lineEveryMs = 5_000

/** A progress bar for people, and an occasional line for logs. */
export function progressWriter(out: Output): (progress: MoveProgress) => void {
  const elapsedMs = stopwatch()
  let saidAtMs = 0
  return (progress) => {
    if (out.showsProgress) {
      out.progress(barText(progress))
      return
    }
    if (elapsedMs() - saidAtMs < lineEveryMs) return
    saidAtMs = elapsedMs()
    out.note(lineText(progress))
  }
}

function barText(progress: MoveProgress): string {
  const { moved, total } = progress
  const share = total === 0 ? 1 : moved / total
  const filled = Math.floor(share * barWidth)
  return `[${'#'.repeat(filled)}${'.'.repeat(barWidth - filled)}] ${Math.floor(share * 100)}%  ${lineText(progress)}`
}

function lineText({ moved, total, rate, refused, waitingFor }: MoveProgress): string {
  const parts = [`${moved} of ${total} jobs`]
  if (rate >= 1) parts.push(`${Math.round(rate)} a second`)
  if (refused > 0) parts.push(`${refused} refused`)
  if (waitingFor !== null) parts.push(`waiting for ${waitingFor}`)
  return parts.join(', ')
}
