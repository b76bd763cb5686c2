import type { JobView } from '../../shared/views/job.ts'
import { go, to } from '../address.ts'
import { change, may, now } from '../calls.ts'
import { Icon } from '../components/icons.tsx'
import { ask, attempt } from '../components/messages.tsx'
import { Copy, State, stateOf, Text } from '../components/parts.tsx'
import { iso, shortId } from '../format.ts'
import { isEnded } from './ended.ts'

interface HeadProps {
  readonly job: JobView
  readonly onEdit: () => void
}

export function Head({ job, onEdit }: HeadProps) {
  const { id, state, reason } = job
  return (
    <header class="page-head">
      <h1>
        <Text>{job.name}</Text>
      </h1>
      <span class="mono">{shortId(id)}</span>
      <Copy text={id} label="Copy the id" />
      <State state={stateOf(job)} detail={state === 'dead' ? reason : null} />
      {job.cancelRequested && !isEnded(state) && <span class="badge">asked to stop</span>}
      <span class="muted">
        <a href={to('queues', job.queue)}>
          <Text>{job.queue}</Text>
        </a>{' '}
        · priority {job.priority}
      </span>
      {may() && <Actions job={job} onEdit={onEdit} />}
    </header>
  )
}

function Actions({ job: { id, state, editRefusal }, onEdit }: HeadProps) {
  const path = `api/jobs/${encodeURIComponent(id)}`
  const waits = ['ready', 'scheduled', 'blocked'].includes(state)
  const reschedule = () =>
    ask({
      title: 'Reschedule this job',
      text: 'It will not run before this time, in the time zone of your browser.',
      action: 'Reschedule',
      field: { label: 'Not before', type: 'datetime-local', value: local() },
      onAnswer: (field) => void attempt(() => change('PATCH', path, { runAt: new Date(field).toISOString() }), 'Rescheduled.'),
    })
  const remove = () =>
    ask({
      title: 'Delete this job?',
      text: 'This cannot be undone. A waiting job is cancelled first, so that the jobs that wait for it continue.',
      action: 'Delete',
      isDangerous: true,
      onAnswer: () =>
        void attempt(async () => {
          await change('DELETE', path)
          go('/jobs')
        }, 'Deleted.'),
    })
  const cancel = () =>
    attempt(
      () => change<{ readonly outcome: string }>('POST', `${path}/cancel`),
      ({ outcome }) => (outcome === 'requested' ? 'Its worker was asked to stop it.' : 'Cancelled.'),
    )
  const retry = () => void attempt(() => change('POST', `${path}/retry`), 'Put back into the queue.')
  const askRunAgain = () =>
    ask({
      title: 'Run this job again?',
      text: 'It has succeeded. Everything it did will be done a second time.',
      action: 'Run it again',
      onAnswer: retry,
    })
  const askCancel = () =>
    state === 'running'
      ? ask({
          title: 'Cancel this running job?',
          text: 'Its worker is asked to stop it.',
          action: 'Cancel the job',
          isDangerous: true,
          onAnswer: () => void cancel(),
        })
      : void cancel()
  return (
    <span class="actions">
      {isEnded(state) && (
        <button
          type="button"
          class={state === 'succeeded' ? undefined : 'primary'}
          data-key="r"
          onClick={state === 'succeeded' ? askRunAgain : retry}
        >
          <Icon name="again" /> {state === 'succeeded' ? 'Run again …' : 'Retry'}
        </button>
      )}
      <button
        type="button"
        data-key="e"
        disabled={editRefusal !== null}
        title={editRefusal === null ? undefined : `${editRefusal}: send it again from a program`}
        onClick={onEdit}
      >
        <Icon name="again" /> Edit and run again …
      </button>
      {state === 'scheduled' && (
        <button
          type="button"
          class="primary"
          data-key="n"
          onClick={() => void attempt(() => change('PATCH', path, { runAt: iso(now()) }), 'It is due now.')}
        >
          <Icon name="play" /> Run now
        </button>
      )}
      {waits && (
        <button type="button" onClick={reschedule}>
          <Icon name="clock" /> Reschedule …
        </button>
      )}
      {!isEnded(state) && (
        <button type="button" data-key="c" onClick={askCancel}>
          <Icon name="bar" /> Cancel
        </button>
      )}
      {state !== 'running' && (
        <button type="button" class="danger-text" onClick={remove}>
          <Icon name="trash" /> Delete …
        </button>
      )}
    </span>
  )
}

function local(): string {
  const at = new Date()
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
