import type { ManagedJob, ManagerEvent } from '../../../manager/events.ts'
import type { Colours } from '../output.ts'
import { plural, visibleLine } from '../text.ts'
import { roughly } from '../time.ts'

/** Whether it is a problem rather than normal operation. */
export function isManagerTrouble({ event }: ManagerEvent): boolean {
  return event === 'job:failed' || event === 'manager:trouble'
}

/** One line for people, such as `✓ SendEmail 7 12ms`. */
export function managerEventLine(event: ManagerEvent, colours: Colours): string {
  switch (event.event) {
    case 'manager:started':
      return `managing ${visibleLine(event.name)} of ${event.server} with the workers in ${visibleLine(event.workers)}`
    case 'job:started':
      return `${colours.dim('·')} ${jobText(event, colours)} started`
    case 'job:finished':
      return `${colours.green('✓')} ${jobText(event, colours)} ${roughly(event.durationMs)}`
    case 'job:retried':
      return `${colours.yellow('↻')} ${jobText(event, colours)} again in ${event.delaySeconds}s`
    case 'job:failed':
      return `${colours.red('✗')} ${jobText(event, colours)} ${visibleLine(event.error)}`
    case 'job:returned':
      return `${colours.yellow('↩')} ${jobText(event, colours)} given back`
    case 'manager:trouble':
      return `${colours.yellow('!')} ${visibleLine(event.error)}`
    case 'manager:draining':
      return `stopping (${visibleLine(event.why)}): waiting for ${plural(event.running, 'job')}`
    case 'manager:stopped':
      return `stopped: ${event.finished} finished, ${event.retried} retried, ${event.failed} failed, ${event.returned} given back`
  }
}

function jobText({ job, jobID }: ManagedJob, colours: Colours): string {
  return `${visibleLine(job)} ${colours.dim(String(jobID))}`
}
