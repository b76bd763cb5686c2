import { signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { quoted } from '../../shared/filter.ts'
import type { JobRow, Searched } from '../../shared/views/job.ts'
import type { ProblemView } from '../../shared/views/viewer.ts'
import { to, toJobs } from '../address.ts'
import { ago, ahead, away, date, exact, iso, precise, shortId, visible } from '../format.ts'
import type { Live } from '../live.ts'
import { Icon, type IconName } from './icons.tsx'

/** Changes once a second, so that ages stay up to date. */
export const tick = signal(0)
setInterval(() => {
  if (!document.hidden) tick.value++
}, 1_000)

const stateIcons: Readonly<Record<string, IconName>> = {
  scheduled: 'clock',
  retrying: 'again',
  ready: 'circle',
  blocked: 'link',
  running: 'half',
  succeeded: 'tick',
  dead: 'cross',
  cancelled: 'bar',
  skipped: 'skip',
  paused: 'pause',
  active: 'tick',
  new: 'circle',
  disabled: 'bar',
  missing: 'bar',
  'not in code': 'warning',
  'unknown job': 'warning',
  rejected: 'cross',
  ended: 'bar',
}

/** A state is always shown as icon, word and colour. */
export function State({ state, detail }: { readonly state: string; readonly detail?: string | null }) {
  return (
    <span class={`state state-${state.replaceAll(' ', '-')}`}>
      <Icon name={stateIcons[state] ?? 'circle'} />
      {state}
      {detail != null && detail !== '' && <small> ({visible(detail)})</small>}
    </span>
  )
}

export function stateOf({ state, attempts }: Pick<JobRow, 'state' | 'attempts'>): string {
  return state === 'scheduled' && attempts > 0 ? 'retrying' : state
}

export function Ago({ at }: { readonly at: number | null }) {
  void tick.value
  return at === null ? (
    <span class="muted">–</span>
  ) : (
    <time dateTime={iso(at)} title={iso(at)}>
      {ago(at)}
    </time>
  )
}

export function Ahead({ at }: { readonly at: number | null }) {
  void tick.value
  return at === null ? (
    <span class="muted">–</span>
  ) : (
    <time dateTime={iso(at)} title={iso(at)}>
      {ahead(at)}
    </time>
  )
}

export function Away({ at }: { readonly at: number }) {
  void tick.value
  return (
    <time dateTime={iso(at)} title={`${date(at)} (${iso(at)})`}>
      {away(at)}
    </time>
  )
}

export function Instant({ at }: { readonly at: number | null }) {
  return at === null ? (
    <span class="muted">–</span>
  ) : (
    <time dateTime={iso(at)} title={iso(at)}>
      {date(at)}
    </time>
  )
}

export function Precise({ at }: { readonly at: number | null }) {
  return at === null ? (
    <span class="muted">–</span>
  ) : (
    <time dateTime={iso(at)} title={iso(at)}>
      {precise(at)}
    </time>
  )
}

/** Long texts may be cut off where there is little room; pointing at them shows the rest. */
const shortText = 24
const longestTitle = 1_000

/** Text from jobs, with all deceptive characters made visible. */
export function Text({ children }: { readonly children: string }) {
  const text = visible(children)
  return <bdi title={text.length > shortText ? text.slice(0, longestTitle) : undefined}>{text}</bdi>
}

const jobId = /\b([0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})\b/

/** A sentence in which each job's id is a link to it. */
export function Linked({ children }: { readonly children: string }) {
  return (
    <>{children.split(jobId).map((part, at) => (at % 2 === 1 ? <JobLink key={at} id={part} /> : <Text key={at}>{part}</Text>))}</>
  )
}

export function JobLink({ id, children }: { readonly id: string; readonly children?: ComponentChildren }) {
  return (
    <a href={to('jobs', id)} title={id} class={children === undefined ? 'mono' : undefined}>
      {children ?? shortId(id)}
    </a>
  )
}

/** Each tag links to all jobs that have it. */
export function TagList({ tags, most = tags.length }: { readonly tags: readonly string[]; readonly most?: number }) {
  return (
    <>
      {tags.slice(0, most).map((tag) => (
        <a key={tag} class="badge" href={toJobs(`tag:${quoted(tag)}`)}>
          <Text>{tag}</Text>
        </a>
      ))}
      {tags.length > most && <span class="muted">+{exact(tags.length - most)}</span>}
    </>
  )
}

export function Card({
  title,
  children,
  actions,
  wide,
}: {
  readonly title?: ComponentChildren
  readonly children: ComponentChildren
  readonly actions?: ComponentChildren
  readonly wide?: boolean
}) {
  return (
    <section class={`card${wide === true ? ' wide' : ''}`}>
      {title !== undefined && (
        <header class="card-head">
          <h2>{title}</h2>
          {actions}
        </header>
      )}
      {children}
    </section>
  )
}

export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <strong>{title}</strong>
      {children}
    </div>
  )
}

export function Code({ children }: { readonly children: string }) {
  return (
    <pre class="snippet" tabIndex={0}>
      <code>{visible(children)}</code>
      <Copy text={children} />
    </pre>
  )
}

export function Copy({ text, label = 'Copy' }: { readonly text: string; readonly label?: string }) {
  const done = useSignal(false)
  const copy = async () => {
    await copyText(text)
    done.value = true
    setTimeout(() => {
      done.value = false
    }, 1_500)
  }
  return (
    <button
      type="button"
      class="icon-button"
      onClick={copy}
      aria-label={done.value ? 'Copied' : label}
      title={done.value ? 'Copied' : label}
    >
      <Icon name={done.value ? 'tick' : 'copy'} />
    </button>
  )
}

/** Over plain HTTP, browsers give pages no clipboard: select a text field instead. */
async function copyText(text: string): Promise<void> {
  if (navigator.clipboard !== undefined) return navigator.clipboard.writeText(text)
  const field = document.createElement('textarea')
  field.value = text
  document.body.append(field)
  field.select()
  document.execCommand('copy')
  field.remove()
}

export function Problem({ problem }: { readonly problem: Pick<ProblemView, 'detail' | 'title'> | null }) {
  if (problem === null) return null
  return (
    <div class="problem" role="alert">
      <Icon name="warning" /> <Text>{problem.detail || problem.title}</Text>
    </div>
  )
}

/** What a live view shows before its data arrives. */
export function Waiting<Data>({ live }: { readonly live: Live<Data> }) {
  if (live.problem !== null) return <Problem problem={live.problem} />
  return (
    <div class="loading" aria-busy="true">
      <span class="visually-hidden">Loading</span>
    </div>
  )
}

/** Always says how far a list has been searched. */
export function SearchedTo({
  searched,
  next,
  onMore,
  busy,
  more = 'Search further',
  onStop,
}: {
  readonly searched: Searched
  readonly next: string | null
  readonly onMore: () => void
  readonly busy: boolean
  /** What the button says. */
  readonly more?: string
  readonly onStop?: () => void
}) {
  return (
    <div class="searched">
      <span>
        {next === null ? 'End of the list: searched' : 'Searched'} {exact(searched.jobs)} {searched.jobs === 1 ? 'job' : 'jobs'}
        {searched.until !== null && (
          <>
            , back to <Instant at={searched.until} />
          </>
        )}
      </span>
      {next !== null && (
        <button type="button" onClick={busy && onStop !== undefined ? onStop : onMore} disabled={busy && onStop === undefined}>
          {busy ? (onStop === undefined ? 'Searching …' : 'Stop searching') : more}
        </button>
      )}
    </div>
  )
}

export function Progress({ value, label }: { readonly value: number; readonly label: string }) {
  return (
    <span class="progress">
      <progress value={value} max={1} aria-label={label} /> {Math.round(value * 100)} %
    </span>
  )
}

/** A small bar chart without axes. */
export function Spark({ values, label }: { readonly values: readonly number[]; readonly label: string }) {
  const top = Math.max(1, ...values)
  return (
    <svg
      class="spark"
      viewBox={`0 0 ${values.length * 5} 16`}
      width={values.length * 5}
      height="16"
      role="img"
      aria-label={label}
    >
      {values.map((value, at) => {
        const height = value === 0 ? 1 : Math.max(2, (value / top) * 16)
        return (
          <rect key={at} x={at * 5} y={16 - height} width="4" height={height} rx="1" class={value === 0 ? 'none' : undefined} />
        )
      })}
    </svg>
  )
}
