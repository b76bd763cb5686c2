import type { WorkerRow } from '../../shared/views/worker.ts'
import { to } from '../address.ts'
import { now } from '../calls.ts'
import { Ago, Code, Empty, State, Text, tick } from './parts.tsx'

export function WorkerTable({ workers }: { readonly workers: readonly WorkerRow[] }) {
  void tick.value
  if (workers.length === 0)
    return (
      <Empty title="No worker is running">
        <p>Start one where the code of your jobs is:</p>
        <Code>npx treadle work</Code>
      </Empty>
    )
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Workers">
      <table class="stack">
        <thead>
          <tr>
            <th>worker</th>
            <th class="num">pid</th>
            <th>version</th>
            <th class="num">running</th>
            <th>queues</th>
            <th class="num">job names</th>
            <th>scheduler ran</th>
            <th>started</th>
            <th>last seen</th>
          </tr>
        </thead>
        <tbody>
          {workers.map((worker) => (
            <tr key={worker.owner} data-row class={isSilent(worker) ? 'silent' : undefined}>
              <td class="main line">
                <a href={to('workers', worker.owner)}>
                  <Text>{worker.host}</Text>
                </a>{' '}
                {isSilent(worker) && <span class="badge bad">no heartbeat</span>}
                {worker.breaker !== 'closed' && <span class="badge bad">breaker {worker.breaker}</span>}
              </td>
              <td class="num" data-label="pid">
                {worker.pid}
              </td>
              <td data-label="version">
                <Text>{worker.version}</Text>
              </td>
              <td class="num" data-label="running">
                <Load worker={worker} />
              </td>
              <td class="wrap" data-label="queues">
                {worker.queues === null ? 'all' : <Text>{worker.queues.join(', ')}</Text>}
              </td>
              <td class="num" data-label="job names">
                {worker.jobs.length}
              </td>
              <td data-label="scheduler ran">
                {worker.follows ? <Ago at={worker.lastTickAt} /> : <span class="muted">no</span>}
              </td>
              <td data-label="started">
                <Ago at={worker.startedAt} />
              </td>
              <td data-label="last seen">
                <Ago at={worker.seenAt} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Whether it has missed a heartbeat. If it misses two more, it is no longer listed. */
export function isSilent({ seenAt, expiresAt }: WorkerRow): boolean {
  return now() - seenAt > (expiresAt - seenAt) / 2
}

function Load({ worker: { running, allowed, concurrency } }: { readonly worker: WorkerRow }) {
  return (
    <span title={allowed < concurrency ? `It allows itself ${allowed} of ${concurrency} because of the load` : undefined}>
      {running}/{allowed}
      {allowed < concurrency && (
        <>
          {' '}
          <State state="paused" />
        </>
      )}
    </span>
  )
}
