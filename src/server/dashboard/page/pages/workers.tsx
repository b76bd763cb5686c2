import type { WorkerRow, WorkerView } from '../../shared/views/worker.ts'
import { now } from '../calls.ts'
import { Ago, Ahead, Card, Empty, Instant, JobLink, Problem, Text, tick, Waiting } from '../components/parts.tsx'
import { isSilent, WorkerTable } from '../components/worker-table.tsx'
import { duration } from '../format.ts'
import { useLive } from '../live.ts'
import type { PageProps } from '../main.tsx'

export function Workers({ argument }: PageProps) {
  return argument === undefined ? <List /> : <Detail owner={argument} />
}

function List() {
  const live = useLive<readonly WorkerRow[]>('workers')
  return (
    <>
      <h1>Workers</h1>
      {live.data === null ? (
        <Waiting live={live} />
      ) : (
        <>
          <Problem problem={live.problem} />
          <Card>
            <WorkerTable workers={live.data} />
          </Card>
        </>
      )}
    </>
  )
}

function Detail({ owner }: { readonly owner: string }) {
  void tick.value
  const live = useLive<WorkerView>(`worker:${owner}`)
  const { data } = live
  if (data === null)
    return (
      <>
        <h1>
          Worker <Text>{owner}</Text>
        </h1>
        <Waiting live={live} />
      </>
    )
  return (
    <>
      <h1>
        Worker <Text>{owner}</Text>
      </h1>
      <Problem problem={live.problem} />
      <div class="tiles">
        <div class="tile">
          <span class="tile-label">running</span>
          <span class="tile-value">
            {data.running} of {data.allowed}
          </span>
        </div>
        <div class="tile">
          <span class="tile-label">breaker</span>
          <span class="tile-value">{data.breaker}</span>
        </div>
        <div class={isSilent(data) ? 'tile bad' : 'tile'}>
          <span class="tile-label">last seen</span>
          <span class="tile-value">
            <Ago at={data.seenAt} />
          </span>
        </div>
        <div class="tile">
          <span class="tile-label">schedules</span>
          <span class="tile-value">{data.follows ? <Ago at={data.lastTickAt} /> : 'no'}</span>
        </div>
      </div>
      <div class="grid-2">
        <Card title="What it runs">
          {data.holds.length === 0 ? (
            <Empty title="Nothing at the moment" />
          ) : (
            <ul class="lines">
              {data.holds.map(({ id, job, attempt, claimedAt, expiresAt }) => (
                <li key={id}>
                  <span class="clip">
                    <JobLink id={id}>
                      <Text>{job}</Text>
                    </JobLink>
                  </span>
                  <span class="muted">
                    attempt {attempt} · {duration(Math.max(0, now() - claimedAt))} · lease ends <Ahead at={expiresAt} />
                  </span>
                </li>
              ))}
            </ul>
          )}
        </Card>
        <Card title="Facts">
          <dl class="facts">
            <div>
              <dt>Host</dt>
              <dd>
                <Text>{data.host}</Text>
              </dd>
            </div>
            <div>
              <dt>Process</dt>
              <dd>{data.pid}</dd>
            </div>
            <div>
              <dt>Version</dt>
              <dd>{data.version}</dd>
            </div>
            <div>
              <dt>Started</dt>
              <dd>
                <Instant at={data.startedAt} />
              </dd>
            </div>
            <div>
              <dt>At once</dt>
              <dd>
                {data.allowed} of {data.concurrency}
              </dd>
            </div>
            <div>
              <dt>Queues</dt>
              <dd>{data.queues === null ? 'all' : <Text>{data.queues.join(', ')}</Text>}</dd>
            </div>
            <div>
              <dt>Jobs</dt>
              <dd>
                <Text>{data.jobs.join(', ')}</Text>
              </dd>
            </div>
          </dl>
        </Card>
      </div>
    </>
  )
}
