import { useSignal } from '@preact/signals'
import type { JobView } from '../../shared/views/job.ts'
import { may } from '../calls.ts'
import { TextCard } from '../components/json-view.tsx'
import { LogCard } from '../components/log-card.tsx'
import { Card, Linked, Problem, Progress, Waiting } from '../components/parts.tsx'
import { PayloadEditor } from '../components/payload-editor.tsx'
import { precise, shortId, visible } from '../format.ts'
import { Attempts } from '../job/attempts.tsx'
import { isEnded } from '../job/ended.ts'
import { Facts, Links } from '../job/facts.tsx'
import { Head } from '../job/head.tsx'
import { sentenceOf } from '../job/sentence.ts'
import { Timeline } from '../job/timeline.tsx'
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
        <Problem problem={{ title: '', detail: `Another program has changed the row of this job: ${data.faults.join('; ')}` }} />
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

function Why({ job }: { readonly job: JobView }) {
  const title = job.state === 'running' ? 'It is running' : isEnded(job.state) ? 'How it ended' : 'Why it is not running yet'
  return (
    <Card title={title}>
      <ul class="why">
        {job.why.map(({ rule, message }) => (
          <li key={rule}>
            <Sentence text={message} />
          </li>
        ))}
      </ul>
    </Card>
  )
}

function Sentence({ text }: { readonly text: string }) {
  return (
    <>
      {sentenceOf(text, precise).map(({ said, isCommand }, at) =>
        isCommand ? <code key={at}>npx {visible(said)}</code> : <Linked key={at}>{said}</Linked>,
      )}
    </>
  )
}
