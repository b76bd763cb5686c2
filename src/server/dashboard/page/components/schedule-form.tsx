import { type Signal, useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import type { DraftField, DraftView, ScheduleDraft } from '../../shared/views/schedule.ts'
import { go, to } from '../address.ts'
import { change } from '../calls.ts'
import { visible } from '../format.ts'
import { zoneName } from '../settings.ts'
import { say } from './messages.tsx'
import { Away, Card, Empty, Problem, Text } from './parts.tsx'

/** How long to wait after the last keystroke before the schedule is explained again. */
const pauseMs = 250

const kinds = [
  ['cron', 'calendar (cron)', '30 2 * * 1-5'],
  ['every', 'fixed interval', '15m'],
  ['repeat', 'after the previous run', 'FINISHED, +1 HOUR'],
] as const

export function newDraft(): ScheduleDraft {
  return {
    key: '',
    job: '',
    kind: 'cron',
    said: '0 9 * * 1-5',
    timezone: zoneName(),
    until: '',
    misfire: '',
    overlap: '',
    payload: 'null',
  }
}

/** Creates or changes a stored schedule, and shows what it will do while it is being edited. */
export function ScheduleForm({ first, isNew }: { readonly first: ScheduleDraft; readonly isNew: boolean }) {
  const draft = useSignal(first)
  const view = useSignal<DraftView | null>(null)
  const touched = useSignal<ReadonlySet<DraftField>>(new Set(isNew ? ['said', 'timezone'] : (Object.keys(first) as DraftField[])))
  const refusal = useSignal<string | null>(null)
  const busy = useSignal(false)
  useEffect(() => {
    let isOld = false
    const timer = setTimeout(async () => {
      try {
        const answer = await change<DraftView>('POST', 'explain-schedule', draft.value)
        if (!isOld) view.value = answer
      } catch (refused) {
        if (!isOld) refusal.value = (refused as Error).message
      }
    }, pauseMs)
    return () => {
      isOld = true
      clearTimeout(timer)
    }
  }, [draft.value])
  const set = (field: DraftField, value: string) => {
    draft.value = { ...draft.value, [field]: value } as ScheduleDraft
    touched.value = new Set([...touched.value, field])
    refusal.value = null
  }
  const problems = view.value?.problems ?? []
  const problemOf = (field: DraftField) =>
    touched.value.has(field) ? (problems.find((each) => each.field === field)?.detail ?? null) : null
  const submit = async (event: Event) => {
    event.preventDefault()
    touched.value = new Set(Object.keys(draft.value) as DraftField[])
    busy.value = true
    try {
      await change('POST', 'schedule', draft.value)
      say(isNew ? 'Stored: workers follow it within a second.' : 'Changed.')
      go(`/schedules/${encodeURIComponent(`stored:${draft.value.key.trim()}`)}`)
    } catch (refused) {
      refusal.value = (refused as Error).message
    }
    busy.value = false
  }
  return (
    <div class="grid-2 uneven">
      <Card title={isNew ? 'What to run, and when' : 'Change this schedule'}>
        <form class="editor fields" onSubmit={(event) => void submit(event)} noValidate>
          <Fields draft={draft} set={set} problemOf={problemOf} isNew={isNew} />
          <Problem problem={refusal.value === null ? null : { title: '', detail: refusal.value }} />
          <div class="dialog-buttons">
            <a class="button" href={isNew ? to('schedules') : to('schedules', `stored:${first.key}`)}>
              Cancel
            </a>
            <button type="submit" class="primary" disabled={busy.value}>
              {isNew ? 'Save schedule' : 'Save changes'}
            </button>
          </div>
        </form>
      </Card>
      <Preview view={view.value} />
    </div>
  )
}

interface FieldsProps {
  readonly draft: Signal<ScheduleDraft>
  readonly set: (field: DraftField, value: string) => void
  readonly problemOf: (field: DraftField) => string | null
  readonly isNew: boolean
}

function Fields({ draft, set, problemOf, isNew }: FieldsProps) {
  const { key, job, kind, said, timezone, until, misfire, overlap, payload } = draft.value
  const example = kinds.find(([name]) => name === kind)?.[2] ?? ''
  const text = (
    field: DraftField,
    label: string,
    value: string,
    more: { placeholder?: string; readOnly?: boolean; list?: string } = {},
  ) => (
    <Field name={field} label={label} problem={problemOf(field)}>
      {(described) => (
        <input
          {...described}
          {...more}
          type="text"
          autocomplete="off"
          value={value}
          onInput={(event) => set(field, event.currentTarget.value)}
        />
      )}
    </Field>
  )
  const choice = (
    field: DraftField,
    label: string,
    value: string,
    options: readonly (readonly [value: string, label: string])[],
  ) => (
    <Field name={field} label={label} problem={problemOf(field)}>
      {(described) => (
        <select {...described} value={value} onChange={(event) => set(field, event.currentTarget.value)}>
          {options.map(([each, words]) => (
            <option key={each} value={each}>
              {words}
            </option>
          ))}
        </select>
      )}
    </Field>
  )
  return (
    <>
      {text('key', 'Key', key, { readOnly: !isNew, placeholder: 'acme-report' })}
      {text('job', 'Job', job, { placeholder: 'report' })}
      {choice(
        'kind',
        'Kind',
        kind,
        kinds.map(([name, words]) => [name, words] as const),
      )}
      {text('said', 'When', said, { placeholder: example })}
      {kind === 'cron' && text('timezone', 'Time zone', timezone, { placeholder: 'UTC', list: 'zones' })}
      {text('until', 'Until (optional)', until, { placeholder: '2027-01-01T00:00:00Z' })}
      {choice('misfire', 'Missed runs', misfire, [
        ['', 'default'],
        ['latest', 'catch up the latest'],
        ['skip', 'skip them'],
        ['all', 'catch up all'],
      ])}
      {choice('overlap', 'While the previous run has not ended', overlap, [
        ['', 'default'],
        ['skip', 'skip the run'],
        ['queue', 'wait for it'],
        ['allow', 'run next to it'],
      ])}
      <Field name="payload" label="Payload of each run, as JSON" problem={problemOf('payload')}>
        {(described) => (
          <textarea
            {...described}
            class="mono"
            rows={5}
            spellcheck={false}
            value={payload}
            onInput={(event) => set('payload', event.currentTarget.value)}
          />
        )}
      </Field>
      <datalist id="zones">
        {Intl.supportedValuesOf('timeZone').map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
    </>
  )
}

interface Described {
  readonly id: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby'?: string
}

/** A field with its error next to it. */
function Field({
  name,
  label,
  problem,
  children,
}: {
  readonly name: string
  readonly label: string
  readonly problem: string | null
  readonly children: (described: Described) => ComponentChildren
}) {
  const [id, note] = [`field-${name}`, `problem-${name}`]
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({ id, 'aria-invalid': problem !== null, ...(problem !== null && { 'aria-describedby': note }) })}
      {problem !== null && (
        <p id={note} class="field-problem" role="alert">
          {visible(problem)}
        </p>
      )}
    </div>
  )
}

function Preview({ view }: { readonly view: DraftView | null }) {
  return (
    <Card title="What it will do">
      <div aria-live="polite">
        {view?.words == null ? (
          <Empty title="Not known yet" />
        ) : (
          <>
            <p class="words">
              <Text>{view.words}</Text>
            </p>
            <ul class="lines">
              {view.next.map(({ at, local, note }) => (
                <li key={at}>
                  <span>
                    {local}
                    {note !== null && <span class="badge">{note}</span>}
                  </span>
                  <span class="muted">
                    <Away at={at} />
                  </span>
                </li>
              ))}
            </ul>
          </>
        )}
        {view?.warnings.map((warning) => (
          <Problem key={warning} problem={{ title: '', detail: warning }} />
        ))}
      </div>
    </Card>
  )
}
