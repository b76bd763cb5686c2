import type { ComponentChildren } from 'preact'
import { quoted } from '../../shared/filter.ts'
import type { OverviewView } from '../../shared/views/overview.ts'
import type { Range } from '../../shared/views/series.ts'
import { address, base, to, toJobs, withParameter } from '../address.ts'
import { me, now } from '../calls.ts'
import { ThroughputChart, TimesChart } from '../components/chart.tsx'
import { Icon } from '../components/icons.tsx'
import { Ago, Ahead, Card, Code, Empty, JobLink, Problem, Progress, Spark, Text, tick, Waiting } from '../components/parts.tsx'
import { ago, count, duration, exact, perMinute, share } from '../format.ts'
import { useLive } from '../live.ts'
import { ScheduleName } from '../schedules/schedule-name.tsx'

const ranges: readonly Range[] = ['1h', '1d', '7d']

export function Overview() {
  const range = (address.value.query.get('range') ?? '1h') as Range
  const live = useLive<OverviewView>(`overview:${range}`)
  const { data } = live
  if (data === null) return <Waiting live={live} />
  const total = Object.values(data.counts).reduce((sum, value) => sum + value, 0)
  return (
    <>
      <h1 class="visually-hidden">Overview</h1>
      <Problem problem={live.problem} />
      <Verdict view={data} />
      {total === 0 && <FirstJob />}
      <Tiles view={data} />
      <div class="grid-2">
        <Card title="Throughput" actions={<Ranges chosen={range} />}>
          <ThroughputChart series={data.series} />
        </Card>
        <Card title={address.value.query.get('times') === 'run' ? 'Run time' : 'Wait time'} actions={<TimesSwitch />}>
          <TimesChart series={data.series} what={address.value.query.get('times') === 'run' ? 'run' : 'wait'} />
        </Card>
        <Busiest view={data} />
        <Failing view={data} />
        <Running view={data} />
        <NextRuns view={data} />
      </div>
      <p class="footnote">
        {data.series.isKept
          ? 'Charts and rates are what all workers have reported, a few seconds late; percentiles are estimates. Counts are exact.'
          : 'This engine keeps no statistics, so there are no charts and rates. Counts are exact.'}
      </p>
    </>
  )
}

function Verdict({ view: { verdict, workers, oldestReadyAt, wellSince } }: { readonly view: OverviewView }) {
  void tick.value
  const worst = verdict[0]?.level ?? 'ok'
  const facts = [
    `${workers} ${workers === 1 ? 'worker' : 'workers'}`,
    oldestReadyAt === null ? 'nothing is waiting' : `oldest waiting job ${duration(Math.max(0, now() - oldestReadyAt))}`,
  ]
  return (
    <section class={`verdict verdict-${worst}`} aria-label="Is it well?">
      {verdict.length === 0 ? (
        <p>
          <Icon name="tick" /> <strong>All is well</strong>
          <span>
            {facts.join(' · ')}
            {wellSince !== null && now() - wellSince > 5_000 && ` · since ${ago(wellSince).replace(' ago', '')}`}
          </span>
        </p>
      ) : (
        verdict.map(({ level, text, href }) => (
          <p key={text} class={`verdict-line verdict-line-${level}`}>
            <Icon name={level === 'problem' ? 'cross' : 'warning'} />{' '}
            <a href={base + href}>
              <Text>{text}</Text>
            </a>
          </p>
        ))
      )}
    </section>
  )
}

function Tiles({ view: { counts, rates, series } }: { readonly view: OverviewView }) {
  const recent = series.points.slice(-24)
  return (
    <div class="tiles">
      <Tile
        label="Done"
        value={rates.donePerMinute === null ? '–' : perMinute(rates.donePerMinute)}
        href={toJobs('state:succeeded')}
      >
        <Spark values={recent.map(({ done }) => done)} label="Done, lately" />
      </Tile>
      <Tile label="Failed attempts" value={rates.failedShare === null ? '–' : share(rates.failedShare)} href={to('dead')}>
        <Spark values={recent.map(({ retried, dead }) => retried + dead)} label="Failed attempts, lately" />
      </Tile>
      <Tile label="Wait p95" value={rates.wait === null ? '–' : duration(rates.wait[1])} />
      <Tile label="Run p95" value={rates.run === null ? '–' : duration(rates.run[1])} />
      <Tile label="Running" value={count(counts.running)} title={exact(counts.running)} href={toJobs('state:running')} />
      <Tile label="Ready" value={count(counts.ready)} title={exact(counts.ready)} href={toJobs('state:ready')} />
      <Tile label="Scheduled" value={count(counts.scheduled)} title={exact(counts.scheduled)} href={toJobs('state:scheduled')} />
      <Tile label="Dead" value={count(counts.dead)} title={exact(counts.dead)} href={to('dead')} isBad={rates.deadInHour > 0}>
        {rates.deadInHour > 0 && <small>+{rates.deadInHour} in an hour</small>}
      </Tile>
    </div>
  )
}

/** Shows each unit smaller than its number. */
function Measured({ value }: { readonly value: string }) {
  return (
    <>
      {[...value.matchAll(/([\d.,<–]+) ?([^\d]*)/g)].map(([, number, unit = ''], at) => (
        <span key={at}>
          {number}
          {unit !== '' && <small>{unit}</small>}
        </span>
      ))}
    </>
  )
}

function Tile({
  label,
  value,
  title,
  href,
  isBad,
  children,
}: {
  readonly label: string
  readonly value: string
  readonly title?: string
  readonly href?: string
  readonly isBad?: boolean
  readonly children?: ComponentChildren
}) {
  const inside = (
    <>
      <span class="tile-label">{label}</span>
      <span class="tile-value" title={title}>
        <Measured value={value} />
      </span>
      <span class="tile-more">{children}</span>
    </>
  )
  const name = `tile${isBad === true ? ' bad' : ''}`
  return href === undefined ? (
    <div class={name}>{inside}</div>
  ) : (
    <a class={name} href={href}>
      {inside}
    </a>
  )
}

function Ranges({ chosen }: { readonly chosen: Range }) {
  return (
    <span class="switch" role="group" aria-label="Range">
      {ranges.map((range) => (
        <a
          key={range}
          href={base + withParameter('range', range === '1h' ? null : range)}
          aria-current={range === chosen ? 'true' : undefined}
        >
          {range}
        </a>
      ))}
    </span>
  )
}

function TimesSwitch() {
  const chosen = address.value.query.get('times') === 'run' ? 'run' : 'wait'
  return (
    <span class="switch" role="group" aria-label="Times">
      <a href={base + withParameter('times', null)} aria-current={chosen === 'wait' ? 'true' : undefined}>
        wait
      </a>
      <a href={base + withParameter('times', 'run')} aria-current={chosen === 'run' ? 'true' : undefined}>
        run
      </a>
    </span>
  )
}

function Busiest({ view: { busiest } }: { readonly view: OverviewView }) {
  return (
    <Card title="Busiest jobs">
      {busiest.length === 0 ? (
        <Empty title="No job has ended in the last five minutes" />
      ) : (
        <div class="scroll" tabIndex={0} role="region" aria-label="Busiest jobs">
          <table class="stack">
            <thead>
              <tr>
                <th>job</th>
                <th>queue</th>
                <th class="num">ended</th>
                <th class="num">run p95</th>
                <th class="num">failed</th>
              </tr>
            </thead>
            <tbody>
              {busiest.map(({ job, queue, perMinute: rate, runP95, failedShare }) => (
                <tr key={`${queue} ${job}`}>
                  <td class="line">
                    <a href={toJobs(`job:${quoted(job)}`)}>
                      <Text>{job}</Text>
                    </a>
                  </td>
                  <td data-label="queue">
                    <a href={to('queues', queue)}>
                      <Text>{queue}</Text>
                    </a>
                  </td>
                  <td class="num" data-label="ended">
                    {perMinute(rate)}
                  </td>
                  <td class={`num${runP95 === null ? ' none' : ''}`} data-label="run p95">
                    {runP95 === null ? '–' : duration(runP95)}
                  </td>
                  <td class="num" data-label="failed">
                    {share(failedShare)}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </Card>
  )
}

function Failing({ view: { failing } }: { readonly view: OverviewView }) {
  return (
    <Card title="Failing" actions={<a href={to('dead')}>all</a>}>
      {failing.length === 0 ? (
        <Empty title="Nothing has failed for good" />
      ) : (
        <ul class="lines">
          {failing.map(({ key, message, job, lastAt, jobs, isEstimate }) => (
            <li key={key}>
              <a class="clip" href={to('dead', key)}>
                <Text>{message}</Text>
              </a>
              <span class="muted clip">
                <Text>{job}</Text> · <Ago at={lastAt} /> · {isEstimate && 'about '}
                {count(jobs)}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function Running({ view: { running, counts } }: { readonly view: OverviewView }) {
  void tick.value
  return (
    <Card title={`Running${counts.running > running.length ? ` (${running.length} of ${count(counts.running)})` : ''}`}>
      {running.length === 0 ? (
        <Empty title="Nothing is running" />
      ) : (
        <ul class="lines">
          {running.map(({ id, job, progress, startedAt }) => (
            <li key={id}>
              <span class="clip">
                <JobLink id={id}>
                  <Text>{job}</Text>
                </JobLink>
              </span>
              <span class="muted">
                {progress !== null && (
                  <>
                    <Progress value={progress} label={`Progress of ${job}`} /> ·{' '}
                  </>
                )}
                {startedAt !== null && duration(Math.max(0, now() - startedAt))}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function NextRuns({ view: { next } }: { readonly view: OverviewView }) {
  return (
    <Card title="Next runs" actions={<a href={`${base}/schedules?view=day`}>calendar</a>}>
      {next.length === 0 ? (
        <Empty title="No schedule">
          <Code>{"jobs.define('digest', send).dailyAt('02:30')"}</Code>
        </Empty>
      ) : (
        <ul class="lines">
          {next.map(({ name, at }) => (
            <li key={name}>
              <a class="clip" href={to('schedules', name)}>
                <ScheduleName name={name} />
              </a>
              <span class="muted">
                <Ahead at={at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  )
}

function FirstJob() {
  const url = `${location.origin}/api/v1/jobs`
  return (
    <Card title="No jobs yet">
      <p>Send the first one from a program, a terminal or any other language. A worker runs it.</p>
      <Code>{`await jobs.define('hello', (who: string) => console.log(who)).dispatch('Ada')`}</Code>
      <Code>npx treadle send hello '"Ada"'</Code>
      {base === '' && <Code>{`curl ${url} -H 'content-type: application/json' -d '{"job":"hello","payload":"Ada"}'`}</Code>}
      {me.value?.role === 'read' && <p class="muted">Your role can only view.</p>}
    </Card>
  )
}
