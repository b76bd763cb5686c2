import type { JobView } from '../../shared/views/job.ts'
import { now } from '../calls.ts'
import { Ahead, Card, tick } from '../components/parts.tsx'
import { date, duration, iso } from '../format.ts'

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

export function Timeline({ job }: { readonly job: JobView }) {
  void tick.value
  const spans = spansOf(job)
  return (
    <Card title="Timeline">
      <ol class="timeline" tabIndex={0}>
        <li class="mark">
          <b>created</b>
          <time dateTime={iso(job.createdAt)} title={iso(job.createdAt)}>
            {date(job.createdAt, true)}
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
                {date(job.finishedAt, true)}
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
