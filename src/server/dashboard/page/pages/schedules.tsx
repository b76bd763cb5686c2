import type { ScheduleRow } from '../../shared/views/schedule.ts'
import { address, base, to, withParameter } from '../address.ts'
import { may } from '../calls.ts'
import { Icon } from '../components/icons.tsx'
import { Ago, Ahead, Card, Problem, State, Text, Waiting } from '../components/parts.tsx'
import { newDraft, ScheduleForm } from '../components/schedule-form.tsx'
import { useLive } from '../live.ts'
import type { PageProps } from '../main.tsx'
import { Calendar } from '../schedules/calendar.tsx'
import { Detail } from '../schedules/detail.tsx'
import { Actions, NoSchedule, Outcome } from '../schedules/schedule-parts.tsx'

export function Schedules({ argument }: PageProps) {
  if (argument !== undefined) return <Detail name={argument} />
  const view = address.value.query.get('view') ?? 'list'
  if (view === 'new' && may())
    return (
      <>
        <header class="page-head">
          <h1>New schedule</h1>
        </header>
        <ScheduleForm first={newDraft()} isNew />
      </>
    )
  return (
    <>
      <header class="page-head">
        <h1>Schedules</h1>
        <span class="switch" role="group" aria-label="How they are shown">
          {['list', 'day', 'week'].map((each) => (
            <a
              key={each}
              href={base + withParameter('view', each === 'list' ? null : each)}
              aria-current={view === each ? 'true' : undefined}
            >
              {each}
            </a>
          ))}
        </span>
        {may() && (
          <span class="actions">
            <a class="button primary" href={`${to('schedules')}?view=new`}>
              <Icon name="clock" /> New schedule
            </a>
          </span>
        )}
      </header>
      {view === 'list' ? <List /> : <Calendar days={view === 'week' ? 7 : 1} />}
    </>
  )
}

function List() {
  const live = useLive<readonly ScheduleRow[]>('schedules')
  if (live.data === null) return <Waiting live={live} />
  return (
    <>
      <Problem problem={live.problem} />
      <Card>
        {live.data.length === 0 ? (
          <NoSchedule />
        ) : (
          <div class="scroll" tabIndex={0} role="region" aria-label="Schedules">
            <table class="stack">
              <thead>
                <tr>
                  <th>schedule</th>
                  <th>state</th>
                  <th class="grow">when</th>
                  <th>last</th>
                  <th>next</th>
                  <th>
                    <span class="visually-hidden">actions</span>
                  </th>
                </tr>
              </thead>
              <tbody>
                {live.data.map((row) => (
                  <tr key={row.name} data-row>
                    <td class="main">
                      <a href={to('schedules', row.name)}>
                        <Text>{row.key ?? row.name}</Text>
                      </a>
                      {row.key !== null && <span class="badge">stored</span>}
                    </td>
                    <td>
                      <State state={row.state} />
                    </td>
                    <td class="grow">
                      <Text>{row.words ?? `${row.expression}, ${row.timezone}`}</Text>
                    </td>
                    <td data-label="last">
                      {row.last === null ? (
                        <span class="muted">–</span>
                      ) : (
                        <>
                          <Outcome run={row.last} /> <Ago at={row.last.at} />
                        </>
                      )}
                    </td>
                    <td data-label="next">
                      <Ahead at={row.nextAt} />
                    </td>
                    <td class="end compact">{may() && <Actions row={row} />}</td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )}
      </Card>
    </>
  )
}
