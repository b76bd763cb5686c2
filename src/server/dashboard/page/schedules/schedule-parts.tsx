import type { RunView, ScheduleRow } from '../../shared/views/schedule.ts'
import { change, may } from '../calls.ts'
import { Icon } from '../components/icons.tsx'
import { ask, attempt } from '../components/messages.tsx'
import { Code, Empty, JobLink, State } from '../components/parts.tsx'
import { visible } from '../format.ts'

export function NoSchedule() {
  return (
    <Empty title="No schedule yet">
      <p>Give a job one, and a worker follows it:</p>
      <Code>{"jobs.define('digest', send).dailyAt('02:30').timezone('Europe/Paris')"}</Code>
      {may() && <p>Or store one in the queue, without a change of the code: New schedule, above.</p>}
    </Empty>
  )
}

export function Outcome({ run: { outcome, startedAt } }: { readonly run: RunView }) {
  return <State state={outcome ?? (startedAt === null ? 'ready' : 'running')} />
}

export function Actions({ row: { name, state, key } }: { readonly row: ScheduleRow }) {
  const path = `api/schedules/${encodeURIComponent(name)}`
  const isPaused = state === 'paused'
  return (
    <span class="actions">
      {state !== 'disabled' && state !== 'ended' && (
        <button
          type="button"
          data-key="p"
          title={isPaused ? 'Resume' : 'Pause'}
          onClick={() =>
            void attempt(
              () => change('POST', `${path}/${isPaused ? 'resume' : 'pause'}`),
              isPaused ? 'Resumed.' : 'Paused: no more runs until it is resumed.',
            )
          }
        >
          <Icon name={isPaused ? 'play' : 'pause'} /> <span class="action-word">{isPaused ? 'Resume' : 'Pause'}</span>
          <span class="visually-hidden"> {visible(name)}</span>
        </button>
      )}
      {state !== 'not in code' && state !== 'rejected' && state !== 'unknown job' && (
        <button
          type="button"
          title="Run now"
          onClick={() =>
            void attempt(
              () => change<{ readonly id: string }>('POST', `${path}/trigger`),
              ({ id }) => (
                <>
                  Sent: <JobLink id={id} />
                </>
              ),
            )
          }
        >
          <Icon name="play" /> <span class="action-word">Run now</span>
          <span class="visually-hidden"> {visible(name)}</span>
        </button>
      )}
      {key !== null && (
        <button
          type="button"
          title="Delete"
          onClick={() =>
            ask({
              title: `Delete the schedule "${visible(key)}"?`,
              text: 'The record of its runs is deleted with it. Jobs that it has sent are left alone.',
              action: 'Delete',
              isDangerous: true,
              onAnswer: () => void attempt(() => change('DELETE', path), 'Deleted.'),
            })
          }
        >
          <Icon name="cross" /> <span class="action-word">Delete</span>
          <span class="visually-hidden"> {visible(key)}</span>
        </button>
      )}
    </span>
  )
}
