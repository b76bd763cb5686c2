import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { BulkAction, BulkPreview, BulkView } from '../../shared/views/bulk.ts'
import { change, read } from '../calls.ts'
import { count, exact, jobsText, visible } from '../format.ts'
import { ask, say } from './messages.tsx'
import { JobLink, Progress, State, stateOf, Text } from './parts.tsx'

const words: Readonly<Record<BulkAction, { readonly verb: string; readonly done: string; readonly note: string }>> = {
  retry: { verb: 'Retry', done: 'put back', note: 'They go back to the queue with all their attempts.' },
  cancel: { verb: 'Cancel', done: 'cancelled', note: 'Waiting jobs end at once; running jobs are asked to stop.' },
  delete: { verb: 'Delete', done: 'deleted', note: 'This cannot be undone.' },
  'run-now': { verb: 'Run now', done: 'made due', note: 'Scheduled jobs become due at once.' },
  reschedule: { verb: 'Reschedule', done: 'rescheduled', note: 'Only waiting jobs can be rescheduled.' },
}

/** Above this number of jobs, the user must type the number to confirm. */
const many = 1_000

/** The selected jobs, or all jobs that match a filter. */
export type Chosen =
  | { readonly ids: readonly string[] }
  | { readonly filter: string; readonly errorKey?: string; readonly count?: number; readonly isEstimate?: boolean }

const running = signal<readonly BulkView[]>([])

/** Asks for confirmation first, with the count and samples. */
export async function bulk(action: BulkAction, chosen: Chosen, onDone: () => void): Promise<void> {
  const preview = 'ids' in chosen ? null : await read2(chosen.filter)
  if (preview === undefined) return
  const amount = 'ids' in chosen ? chosen.ids.length : (chosen.count ?? preview?.count ?? 0)
  const isEstimate = 'isEstimate' in chosen && chosen.isEstimate === true
  const isExact = isEstimate || 'ids' in chosen || chosen.count !== undefined || preview?.exact === true
  if (amount === 0) return say('No job matches any more.', 'refused')
  const { verb, note } = words[action]
  const what = `${isEstimate ? 'about ' : ''}${exact(amount)}${isExact ? '' : '+'} ${amount === 1 ? 'job' : 'jobs'}`
  ask({
    title: `${verb} ${what}?`,
    text: <Question note={note} chosen={chosen} preview={preview} />,
    action: action === 'run-now' ? `Run ${what} now` : `${verb} ${what}`,
    isDangerous: action === 'delete' || action === 'cancel',
    ...((action === 'delete' && amount > 1) || amount > many ? { typed: String(amount) } : {}),
    ...(action === 'reschedule' && { field: { label: 'Not before', type: 'datetime-local', value: localNow() } }),
    onAnswer: (field) => {
      const runAt = action === 'reschedule' ? { runAt: new Date(field).toISOString() } : {}
      const { count: _, isEstimate: __, ...which } = chosen as { readonly count?: number; readonly isEstimate?: boolean }
      void start({ action, ...which, expected: amount, ...runAt }, onDone)
    },
  })
}

function Question({
  note,
  chosen,
  preview,
}: {
  readonly note: string
  readonly chosen: Chosen
  readonly preview: BulkPreview | null
}): ComponentChildren {
  return (
    <>
      <p>{note}</p>
      {'filter' in chosen && (
        <p>
          All that match <code>{visible(chosen.filter)}</code>
          {chosen.errorKey !== undefined && ' and died of this error'}, as of now.
        </p>
      )}
      {preview !== null && (
        <ul class="samples">
          {preview.samples.map((row) => (
            <li key={row.id}>
              <State state={stateOf(row)} /> <Text>{row.job}</Text> <JobLink id={row.id} />
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

async function read2(filter: string): Promise<BulkPreview | undefined> {
  try {
    return await change<BulkPreview>('POST', 'preview', { filter })
  } catch (refused) {
    say((refused as Error).message, 'refused')
    return undefined
  }
}

function localNow(): string {
  const now = new Date()
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

async function start(request: object, onDone: () => void): Promise<void> {
  try {
    let view = await change<BulkView>('POST', 'bulk', request)
    while (view.endedAt === null) {
      keep(view)
      await new Promise((resolve) => setTimeout(resolve, 300))
      view = await read<BulkView>('bulk', { id: view.id })
    }
    forget(view.id)
    say(<Ended view={view} />, view.done > 0 && view.failure === null ? 'done' : 'refused')
    onDone()
  } catch (refused) {
    say((refused as Error).message, 'refused')
  }
}

function Ended({ view: { action, done, refused, isAborted, failure } }: { readonly view: BulkView }) {
  return (
    <>
      {jobsText(done)} {words[action].done}
      {isAborted && ', then stopped'}.{' '}
      {refused.map(({ why, count: times, sampleId }) => (
        <span key={why}>
          {count(times)} left alone: <Text>{why}</Text> (<JobLink id={sampleId} />){' '}
        </span>
      ))}
      {failure}
    </>
  )
}

function keep(view: BulkView): void {
  running.value = [...running.value.filter(({ id }) => id !== view.id), view]
}

function forget(id: string): void {
  running.value = running.value.filter((each) => each.id !== id)
}

/** Actions in progress, with a way to stop them. */
export function BulkProgress() {
  return (
    <>
      {running.value.map(({ id, action, looked, expected, done }) => (
        <div key={id} class="bulk-progress" role="status">
          <Progress value={Math.min(1, looked / Math.max(1, expected))} label={`${action}: progress`} /> {exact(done)} of{' '}
          {exact(expected)} {words[action].done}
          <button type="button" onClick={() => void change('DELETE', `bulk?id=${encodeURIComponent(id)}`)}>
            Stop
          </button>
        </div>
      ))}
    </>
  )
}
