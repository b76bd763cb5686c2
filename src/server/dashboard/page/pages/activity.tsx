import type { ActivityEntry } from '../../shared/views/bulk.ts'
import { base } from '../address.ts'
import { change, may } from '../calls.ts'
import { Ago, Card, Empty, Problem, Progress, Text, Waiting } from '../components/parts.tsx'
import { exact } from '../format.ts'
import { useLive } from '../live.ts'

export function ActivityPage() {
  const live = useLive<readonly ActivityEntry[]>('activity')
  return (
    <>
      <h1>Activity</h1>
      {live.data === null ? (
        <Waiting live={live} />
      ) : (
        <Card>
          <Problem problem={live.problem} />
          {live.data.length === 0 ? (
            <Empty title="No action has been taken here yet">
              <p>What is done on these pages is listed here, with its progress, until this process ends.</p>
            </Empty>
          ) : (
            <div class="scroll" tabIndex={0} role="region" aria-label="Activity">
              <table class="stack">
                <thead>
                  <tr>
                    <th>when</th>
                    <th>who</th>
                    <th class="grow">what</th>
                    <th>progress</th>
                  </tr>
                </thead>
                <tbody>
                  {live.data.map((entry, at) => (
                    <Entry key={at} entry={entry} />
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </Card>
      )}
    </>
  )
}

function Entry({ entry: { at, user, role, what, href, bulk } }: { readonly entry: ActivityEntry }) {
  return (
    <tr data-row>
      <td>
        <Ago at={at} />
      </td>
      <td>{user === null ? <span class="muted">{role}</span> : <Text>{user}</Text>}</td>
      <td class="grow">
        {href === null ? (
          <Text>{what}</Text>
        ) : (
          <a href={base + href}>
            <Text>{what}</Text>
          </a>
        )}
      </td>
      <td>
        {bulk !== null &&
          (bulk.endedAt === null ? (
            <>
              <Progress value={Math.min(1, bulk.looked / Math.max(1, bulk.expected))} label={`Progress of ${what}`} />{' '}
              {may() && (
                <button type="button" onClick={() => void change('DELETE', `bulk?id=${encodeURIComponent(bulk.id)}`)}>
                  Stop
                </button>
              )}
            </>
          ) : (
            `${exact(bulk.done)} done${bulk.refused.length > 0 ? `, ${exact(bulk.refused.reduce((sum, { count }) => sum + count, 0))} left alone` : ''}${bulk.isAborted ? ', stopped' : ''}`
          ))}
      </td>
    </tr>
  )
}
