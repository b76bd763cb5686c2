import { useSignal } from '@preact/signals'
import type { AttemptView, JobView, LinkView } from '../../shared/view.ts'
import { go, to } from '../address.ts'
import { change, may, now } from '../calls.ts'
import { Icon } from '../components/icons.tsx'
import { TextCard } from '../components/json-view.tsx'
import { LogCard } from '../components/log-card.tsx'
import { ask, attempt } from '../components/messages.tsx'
import {
  Ahead,
  Card,
  Copy,
  JobLink,
  Precise,
  Problem,
  Progress,
  State,
  stateOf,
  TagList,
  Text,
  tick,
  Waiting,
} from '../components/parts.tsx'
import { PayloadEditor } from '../components/payload-editor.tsx'
import { date, duration, iso, precise, shortId, visible } from '../format.ts'
import { useLive } from '../live.ts'
import type { PageProps } from '../main.tsx'

export function Job({ argument = '' }: PageProps) {
  const live = useLive<JobView>(`job:${argument}`)
  const editing = useSignal<string | null>(null)
  const { data } = live
  if (data === null) {
    return (
      <>
        <h1>
          Job <span class="mono">{shortId(argument)}</span>
        </h1>
        <Waiting live={live} />
      </>
    )
  }
  return (
    <>
      <Head
        job={data}
        onEdit={() => {
          editing.value = data.id
        }}
      />
      <Problem problem={live.problem} />
      {editing.value === data.id && may() && (
        <PayloadEditor
          key={data.id}
          job={data}
          onClose={() => {
            editing.value = null
          }}
        />
      )}
      {data.faults.length > 0 && (
        <Problem problem={{ title: '', detail: `Somebody else has written to the row of this job: ${data.faults.join('; ')}` }} />
      )}
      <Why job={data} />
      <Timeline job={data} />
      <div class="grid-2 uneven">
        <div class="column">
          <Attempts job={data} />
          <LogCard log={data.log} />
          <Links job={data} />
        </div>
        <div class="column">
          {data.progressText.kind !== 'none' && data.progress !== null && (
            <Card title="Progress">
              <Progress value={data.progress} label="Progress" />
            </Card>
          )}
          <TextCard title="Payload" shown={data.payload} jobId={data.id} part="payload" />
          <TextCard title="Result" shown={data.result} jobId={data.id} part="result" />
          {data.progress === null && <TextCard title="Progress" shown={data.progressText} jobId={data.id} part="progress" />}
          <TextCard title="Meta" shown={data.meta} jobId={data.id} part="meta" />
          <Facts job={data} />
        </div>
      </div>
    </>
  )
}

const isEnded = (state: string) => ['succeeded', 'dead', 'cancelled', 'skipped'].includes(state)

interface HeadProps {
  readonly job: JobView
  readonly onEdit: () => void
}

function Head({ job, onEdit }: HeadProps) {
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
      text: 'It is not run before this instant, in your own time zone.',
      action: 'Reschedule',
      field: { label: 'Not before', type: 'datetime-local', value: local() },
      onAnswer: (field) => void attempt(() => change('PATCH', path, { runAt: new Date(field).toISOString() }), 'Moved.'),
    })
  const remove = () =>
    ask({
      title: 'Delete this job?',
      text: 'This cannot be undone. One that waits is cancelled first, so that jobs that wait for it go on.',
      action: 'Delete',
      isDangerous: true,
      onAnswer: () => void attempt(() => change('DELETE', path), 'Deleted.').then(() => go('/jobs')),
    })
  const cancel = () =>
    attempt(
      () => change<{ readonly outcome: string }>('POST', `${path}/cancel`),
      ({ outcome }) => (outcome === 'requested' ? 'Its worker was asked to stop it.' : 'Cancelled.'),
    )
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
          class="primary"
          data-key="r"
          onClick={() => void attempt(() => change('POST', `${path}/retry`), 'Put back into the queue.')}
        >
          <Icon name="again" /> Retry
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

function Why({ job }: { readonly job: JobView }) {
  const title =
    job.state === 'running' ? 'It is running' : isEnded(job.state) ? 'Why it is not running' : 'Why it is not running yet'
  return (
    <Card title={title}>
      <ul class="why">
        {job.why.map(({ rule, message, until }) => (
          <li key={rule}>
            <Sentence text={message} />
            {until !== null && !isEnded(job.state) && (
              <span class="muted">
                {' '}
                (<Ahead at={until} />)
              </span>
            )}
          </li>
        ))}
      </ul>
    </Card>
  )
}

/** A reason, with the commands that it names. */
function Sentence({ text }: { readonly text: string }) {
  const said = text.replace('`treadle retry` puts', 'Retry puts')
  const parts = `${said[0]?.toUpperCase() ?? ''}${said.slice(1)}`.split('`')
  return <>{parts.map((part, at) => (at % 2 === 1 ? <code key={at}>npx {visible(part)}</code> : <Text key={at}>{part}</Text>))}</>
}

interface Span {
  readonly label: string
  readonly kind: 'waited' | 'failed' | 'ran' | 'running'
  readonly from: number
  readonly until: number
}

/** The known phases of its life. Of earlier attempts only the time of failure is stored, not the start. */
function spansOf(job: JobView): readonly Span[] {
  const { createdAt, startedAt, finishedAt, errors, state } = job
  const spans: Span[] = []
  let from = createdAt
  for (const { at, attempt: number } of errors) {
    const isLast = startedAt !== null && finishedAt !== null && at >= startedAt - 1
    if (isLast) continue
    spans.push({ label: `until attempt ${number} failed`, kind: 'failed', from, until: at })
    from = at
  }
  if (startedAt !== null && startedAt >= from) {
    spans.push({ label: 'waited', kind: 'waited', from, until: startedAt })
    const until = finishedAt ?? (state === 'running' ? now() : startedAt)
    spans.push({
      label: state === 'running' ? 'running' : state === 'dead' ? 'failed' : 'ran',
      kind: state === 'running' ? 'running' : state === 'dead' ? 'failed' : 'ran',
      from: startedAt,
      until,
    })
  } else if (finishedAt !== null) spans.push({ label: 'waited', kind: 'waited', from, until: finishedAt })
  else spans.push({ label: 'waits', kind: 'waited', from, until: now() })
  return spans.slice(-12)
}

function Timeline({ job }: { readonly job: JobView }) {
  void tick.value
  const spans = spansOf(job)
  return (
    <Card title="Timeline">
      <ol class="timeline" tabIndex={0}>
        <li class="mark">
          <b>made</b>
          <time dateTime={iso(job.createdAt)} title={iso(job.createdAt)}>
            {date(job.createdAt)}
          </time>
        </li>
        {spans.map((span, at) => (
          <li key={at} class={`span span-${span.kind}`}>
            <b>{span.label}</b>
            <span>{duration(Math.max(0, span.until - span.from))}</span>
          </li>
        ))}
        <li class="mark">
          {job.finishedAt !== null ? (
            <>
              <b>{job.state}</b>
              <time dateTime={iso(job.finishedAt)} title={iso(job.finishedAt)}>
                {date(job.finishedAt)}
              </time>
            </>
          ) : (
            <>
              <b>{job.state === 'running' ? 'lease ends' : 'due'}</b>
              <Ahead at={job.state === 'running' ? job.leaseExpiresAt : job.runAt} />
            </>
          )}
        </li>
      </ol>
    </Card>
  )
}

function Attempts({ job: { errors, attempts, maxRetries, owner, state } }: { readonly job: JobView }) {
  return (
    <Card title={`Attempts: ${attempts} of ${maxRetries + 1}`}>
      {owner !== null && state === 'running' && (
        <p>
          Runs in{' '}
          <a href={to('workers', owner)}>
            <Text>{owner}</Text>
          </a>
        </p>
      )}
      {errors.length === 0 ? (
        <p class="muted">No attempt has failed.</p>
      ) : (
        errors.toReversed().map((error, at) => <Attempt key={`${error.attempt} ${error.at}`} error={error} isOpen={at === 0} />)
      )}
    </Card>
  )
}

function Attempt({
  error: { attempt: number, at, message, code, stack },
  isOpen,
}: {
  readonly error: AttemptView
  readonly isOpen: boolean
}) {
  return (
    <details class="attempt" open={isOpen}>
      <summary>
        <span class="state state-dead">
          <Icon name="cross" />
          failed
        </span>
        <b>attempt {number}</b>{' '}
        <time dateTime={iso(at)} title={iso(at)}>
          {precise(at)}
        </time>
        {code !== null && <span class="badge">{visible(code)}</span>}
      </summary>
      <p class="error-text">
        <Text>{message}</Text>
      </p>
      {stack !== null && <Stack stack={stack} />}
    </details>
  )
}

/** Frames of the program in full; those of packages and of Node are folded. */
function Stack({ stack }: { readonly stack: string }) {
  const isAll = useSignal(false)
  const lines = stack.split('\n')
  const foreign = (line: string) => /^\s+at /.test(line) && /node_modules|node:|<anonymous>$/.test(line)
  const shown = isAll.value ? lines : lines.filter((line) => !foreign(line))
  const folded = lines.length - shown.length
  return (
    <div class="stack">
      <pre class="code" tabIndex={0}>
        {visible(shown.join('\n'))}
      </pre>
      <span class="card-actions">
        {(folded > 0 || isAll.value) && (
          <button
            type="button"
            class="plain"
            onClick={() => {
              isAll.value = !isAll.value
            }}
          >
            {isAll.value ? 'fold frames of packages' : `${folded} frames of packages and Node`}
          </button>
        )}
        <Copy text={stack} label="Copy the stack" />
      </span>
    </div>
  )
}

function Links({ job }: { readonly job: JobView }) {
  const { links, waiters, root, parent, id } = job
  if (links.length === 0 && waiters.length === 0 && parent === null) return null
  return (
    <Card title="Waits for, and waited for by" actions={root === null ? undefined : <a href={to('workflows', root)}>graph</a>}>
      <div class="links">
        <LinkList links={links} none="waits for nothing" />
        <span class="links-mid">
          <span aria-hidden="true">→</span> <State state={stateOf(job)} /> this <span aria-hidden="true">→</span>
        </span>
        <LinkList links={waiters} none="nobody waits for it" />
      </div>
      {parent !== null && parent !== id && (
        <p class="muted">
          Made by <JobLink id={parent} />
        </p>
      )}
    </Card>
  )
}

function LinkList({ links, none }: { readonly links: readonly LinkView[]; readonly none: string }) {
  if (links.length === 0) return <span class="muted">{none}</span>
  return (
    <ul class="lines">
      {links.map((link, at) => (
        <li key={at}>
          <State state={link.state} />
          {link.id === null ? (
            <span class="muted">hidden from you</span>
          ) : (
            <JobLink id={link.id}>
              <Text>{link.job ?? shortId(link.id)}</Text>
            </JobLink>
          )}
        </li>
      ))}
    </ul>
  )
}

function Facts({ job }: { readonly job: JobView }) {
  const facts: readonly (readonly [string, preact.ComponentChildren])[] = [
    ['Job', job.job],
    [
      'Id',
      <span key="id" class="mono">
        {job.id}
      </span>,
    ],
    ...(job.number === null ? [] : [['Number', String(job.number)] as const]),
    ...(job.copyOf === null ? [] : [['Copy of', <JobLink key="copy" id={job.copyOf} />] as const]),
    ['Made', <Precise key="made" at={job.createdAt} />],
    ['Due', <Precise key="due" at={job.runAt} />],
    ['Started', <Precise key="started" at={job.startedAt} />],
    ['Ended', <Precise key="ended" at={job.finishedAt} />],
    ['Timeout', job.timeoutMs === null ? 'none' : duration(job.timeoutMs)],
    ...(job.tags.length === 0 ? [] : [['Tags', <TagList key="tags" tags={job.tags} />] as const]),
    ...(job.group === null ? [] : [['Group', visible(job.group)] as const]),
    ...(job.uniqueKey === null ? [] : [['Unique key', visible(job.uniqueKey)] as const]),
    ...(job.idempotencyKey === null ? [] : [['Idempotency key', visible(job.idempotencyKey)] as const]),
    ...(job.schedule === null
      ? []
      : [
          [
            'Schedule',
            <a key="schedule" href={to('schedules', job.schedule)}>
              {visible(job.schedule)}
            </a>,
          ] as const,
        ]),
    ...(job.repeat === null ? [] : [['Repeat', visible(job.repeat)] as const]),
    ...(job.rescues === 0 ? [] : [['Rescues', `${job.rescues} (its worker died)`] as const]),
  ]
  return (
    <Card title="Facts">
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}
