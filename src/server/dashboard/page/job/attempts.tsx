import { useSignal } from '@preact/signals'
import type { AttemptView, JobView } from '../../shared/views/job.ts'
import { to } from '../address.ts'
import { Icon } from '../components/icons.tsx'
import { Card, Copy, Text } from '../components/parts.tsx'
import { iso, precise, visible } from '../format.ts'

export function Attempts({ job: { errors, attempts, maxRetries, owner, state } }: { readonly job: JobView }) {
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
        <p class="muted">{attempts === 0 ? 'It has not been started yet.' : 'No attempt has failed.'}</p>
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
    <div class="frames">
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
