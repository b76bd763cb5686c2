import { useSignal } from '@preact/signals'
import { readJson, writeIndented } from '../../shared/json-tree.ts'
import type { JobView } from '../../shared/views/job.ts'
import { go } from '../address.ts'
import { change } from '../calls.ts'
import { shortId } from '../format.ts'
import { say } from './messages.tsx'
import { Card, JobLink, Problem } from './parts.tsx'

/** Runs a job again as a new one, with another payload. The payload is sent as typed, so numbers keep all their digits. */
export function PayloadEditor({ job, onClose }: { readonly job: JobView; readonly onClose: () => void }) {
  const text = useSignal(indented(job))
  const problem = useSignal<string | null>(null)
  const busy = useSignal(false)
  const isJson = readJson(text.value) !== null
  const submit = async (event: Event) => {
    event.preventDefault()
    busy.value = true
    problem.value = null
    try {
      const { id } = await change<{ readonly id: string }>('POST', 'copy', { id: job.id, payload: text.value })
      say(
        <>
          Sent as <JobLink id={id} />, a copy of {shortId(job.id)}.
        </>,
      )
      onClose()
      go(`/jobs/${encodeURIComponent(id)}`)
    } catch (refused) {
      problem.value = (refused as Error).message
    }
    busy.value = false
  }
  return (
    <Card title="Edit and run again">
      <form class="editor" onSubmit={(event) => void submit(event)}>
        <label for="payload-text">Payload, as JSON</label>
        <textarea
          id="payload-text"
          class="mono"
          rows={Math.min(24, Math.max(6, text.value.split('\n').length + 1))}
          spellcheck={false}
          value={text.value}
          aria-invalid={!isJson || problem.value !== null}
          aria-describedby="payload-note"
          onInput={(event) => {
            text.value = event.currentTarget.value
            problem.value = null
          }}
        />
        <p id="payload-note" class={isJson ? 'muted' : 'field-problem'} role={isJson ? undefined : 'alert'}>
          {isJson
            ? 'A new job is sent with the same queue, priority and tags; this one stays as it is.'
            : 'It cannot be read as JSON.'}
        </p>
        <Problem problem={problem.value === null ? null : { title: '', detail: problem.value }} />
        <div class="dialog-buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={!isJson || busy.value}>
            Run it again
          </button>
        </div>
      </form>
    </Card>
  )
}

function indented({ payload }: JobView): string {
  if (payload.kind !== 'json') return 'null'
  const tree = readJson(payload.text)
  return tree === null ? payload.text : writeIndented(tree)
}
