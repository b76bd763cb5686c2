import { useSignal } from '@preact/signals'
import type { EngineView } from '../../shared/views/engine.ts'
import { change, may } from '../calls.ts'
import { Icon } from '../components/icons.tsx'
import { attempt } from '../components/messages.tsx'
import { Ago, Card, Empty, Problem, Waiting } from '../components/parts.tsx'
import { duration, visible } from '../format.ts'
import { useLive } from '../live.ts'

const verdicts = { ok: 'tick', warning: 'warning', problem: 'cross' } as const

export function Engine() {
  const live = useLive<EngineView>('engine')
  const busy = useSignal(false)
  const { data } = live
  if (data === null)
    return (
      <>
        <h1>Engine</h1>
        <Waiting live={live} />
      </>
    )
  const look = async () => {
    busy.value = true
    await attempt(() => change('POST', 'doctor'), 'The check is complete.')
    busy.value = false
  }
  const actions = may() ? (
    <button type="button" disabled={busy.value} onClick={() => void look()}>
      {busy.value ? 'Checking …' : 'Run the doctor'}
    </button>
  ) : undefined
  return (
    <>
      <h1>Engine</h1>
      <Problem problem={live.problem} />
      <div class="grid-2">
        <Card title="The queue">
          <dl class="facts">
            <div>
              <dt>Engine</dt>
              <dd>{data.backend}</dd>
            </div>
            <div>
              <dt>Where</dt>
              <dd class="mono">{visible(data.url)}</dd>
            </div>
            <div>
              <dt>Treadle</dt>
              <dd>{data.version}</dd>
            </div>
            {data.schema !== null && (
              <div>
                <dt>Schema</dt>
                <dd>
                  version {data.schema.version} of {data.schema.latest}
                </dd>
              </div>
            )}
          </dl>
          <h3>What it can do</h3>
          <ul class="plain-list">
            {data.parts.map(({ name, has }) => (
              <li key={name} class={has ? undefined : 'muted'}>
                <Icon name={has ? 'tick' : 'bar'} /> {name}
                {!has && ': no'}
              </li>
            ))}
          </ul>
          <h3>How long ended jobs are kept</h3>
          <dl class="facts">
            {data.keep.map(({ state, keptMs }) => (
              <div key={state}>
                <dt>{state}</dt>
                <dd>{keptMs === null ? 'forever' : keptMs === 0 ? 'not at all' : duration(keptMs)}</dd>
              </div>
            ))}
          </dl>
        </Card>
        <Card title="What the doctor found" actions={actions}>
          {data.findings === null ? (
            <Empty title="Not run yet">
              <p>
                It looks at the schema, settings, indexes, connections and clocks, and changes nothing. It may read the whole file
                of a large queue.
              </p>
            </Empty>
          ) : data.findings.length === 0 ? (
            <Empty title="There is no database to check" />
          ) : (
            <>
              <p class="muted">
                Looked <Ago at={data.lookedAt} />
              </p>
              <ul class="findings">
                {data.findings.map(({ check, verdict, found, advice }) => (
                  <li key={check} class={`finding finding-${verdict}`}>
                    <Icon name={verdicts[verdict]} />
                    <div>
                      <b>{check}</b> <span class="visually-hidden">{verdict}: </span>
                      {visible(found)}
                      {advice !== null && <p>{visible(advice)}</p>}
                    </div>
                  </li>
                ))}
              </ul>
            </>
          )}
        </Card>
      </div>
    </>
  )
}
