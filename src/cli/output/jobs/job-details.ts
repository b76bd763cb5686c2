import type { JobLog } from '../../../app/handles/job-log.ts'
import { formatDuration } from '../../../core/time/duration.ts'
import { parseEncrypted, shownText } from '../../../envelope/encryption.ts'
import { shownMessage } from '../../../envelope/stored-error.ts'
import type { AttemptError } from '../../../queue/contract/contract.ts'
import type { TreeCounts } from '../../../queue/contract/queue-counts.ts'
import type { JobLink, JobRecord } from '../../../queue/contract/store.ts'
import type { Output } from '../output.ts'
import { plural, visible, visibleLine } from '../text.ts'
import { timeAndAge } from '../time.ts'
import { attemptsText, opened, stateColour } from './jobs.ts'
import { logTail } from './log-lines.ts'
import { linkLines, progressLine } from './tree.ts'

export interface ShownJob {
  readonly job: JobRecord
  readonly links: readonly JobLink[]
  /** The counts of its workflow; null if it has none. */
  readonly tree: TreeCounts | null
  readonly log: JobLog
}

/** Everything about one job, for people. */
export function jobDetails({ job, links, tree, log }: ShownJob, out: Output, now: number): string {
  const { colours } = out
  const time = (ms: number | null) => (ms === null ? undefined : timeAndAge(ms, now))
  const state = [job.state, job.reason && `(${visibleLine(job.reason)})`, job.cancelRequested && '(asked to stop)'].filter(
    (part) => part,
  )
  const lines: readonly (readonly [label: string, value: string | undefined])[] = [
    ['job', job.name === job.job ? visibleLine(job.job) : visibleLine(`${job.job} (${job.name})`)],
    ['state', stateColour(colours, job.state)(state.join(' '))],
    ['spoilt', job.spoilt === undefined ? undefined : visibleLine(job.spoilt.join('; '))],
    ['queue', visibleLine(job.queue)],
    ['priority', String(job.priority)],
    ['tags', job.tags.length === 0 ? undefined : visibleLine(job.tags.join(', '))],
    ['group', job.group === null ? undefined : visibleLine(job.group)],
    ['attempts', attemptsText(job, ' of ')],
    ['rescues', job.rescues === 0 ? undefined : `${job.rescues}, because its workers died`],
    ['created', time(job.createdAt)],
    ['due', job.runAt === job.createdAt ? undefined : time(job.runAt)],
    ['started', time(job.startedAt)],
    ['ended', time(job.finishedAt)],
    ['took', tookOf(job)],
    ['worker', job.owner === null ? undefined : visibleLine(job.owner)],
    ['lease until', time(job.leaseExpiresAt)],
    ['schedule', job.schedule === null ? undefined : visibleLine(job.schedule)],
    ['parent', job.parent === null ? undefined : visibleLine(job.parent)],
    ['waits for', links.length === 0 ? undefined : linkLines(links, out).join(`\n${' '.repeat(labelWidth + 2)}`)],
    ['workflow', tree === null ? undefined : progressLine(tree)],
    ['unique key', job.uniqueKey === null ? undefined : visibleLine(job.uniqueKey)],
    ['idempotency', job.idempotencyKey === null ? undefined : visibleLine(job.idempotencyKey)],
    ['progress', job.progress === null ? undefined : progressText(opened(shownText(job.progress)))],
    ['meta', Object.keys(job.meta).length === 0 ? undefined : block(job.meta)],
    ['payload', contents(job.payload)],
    ['result', job.result === null ? undefined : contents(job.result)],
  ]
  const known = lines.filter((line): line is readonly [string, string] => line[1] !== undefined)
  return [
    colours.bold(visibleLine(job.id)),
    ...known.map(([label, value]) => `  ${colours.dim(label.padEnd(labelWidth))}${value}`),
    ...errorLines(job.errors, out, now),
    ...logTail(job.id, log, out),
  ].join('\n')
}

const labelWidth = 13

function tookOf(job: JobRecord): string | undefined {
  if (job.startedAt === null || job.finishedAt === null || job.finishedAt < job.startedAt) return undefined
  return formatDuration(job.finishedAt - job.startedAt)
}

function progressText(progress: unknown): string {
  return typeof progress === 'number' && progress >= 0 && progress <= 1 ? `${Math.round(progress * 100)} %` : block(progress)
}

/** For encrypted text: that it is encrypted, and with which key. */
function contents(text: string): string {
  const encrypted = parseEncrypted(text)
  return encrypted === undefined ? block(opened(text)) : visibleLine(`encrypted (${encrypted.kid})`)
}

/** Pretty-printed JSON, with the following lines aligned to the first. */
function block(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : JSON.stringify(value, null, 2)
  return visible(text).replaceAll('\n', `\n${' '.repeat(labelWidth + 2)}`)
}

function errorLines(errors: readonly AttemptError[], { colours }: Output, now: number): readonly string[] {
  if (errors.length === 0) return []
  return [
    '',
    `  ${plural(errors.length, 'error')}`,
    ...errors.flatMap((error) => [
      `  ${colours.red(`attempt ${error.attempt}`)} ${colours.dim(timeAndAge(error.at, now))}${error.code ? ` [${visibleLine(error.code)}]` : ''}`,
      ...indented(
        visible(
          error.stack?.includes(error.message)
            ? error.stack
            : [shownMessage(error.message), error.stack].filter((part) => part).join('\n'),
        ),
      ),
    ]),
  ]
}

function indented(text: string): readonly string[] {
  return text.split('\n').map((line) => `    ${line}`)
}
