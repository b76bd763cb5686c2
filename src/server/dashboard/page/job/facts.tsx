import { quoted } from '../../shared/filter.ts'
import type { JobView, LinkView } from '../../shared/views/job.ts'
import { to, toJobs } from '../address.ts'
import { Card, JobLink, Precise, State, stateOf, TagList, Text } from '../components/parts.tsx'
import { duration, shortId, visible } from '../format.ts'
import { ScheduleName } from '../schedules/schedule-name.tsx'

export function Links({ job }: { readonly job: JobView }) {
  const { links, waiters, root, parent, id } = job
  if (links.length === 0 && waiters.length === 0 && parent === null) return null
  return (
    <Card title="Dependencies and dependents" actions={root === null ? undefined : <a href={to('workflows', root)}>graph</a>}>
      <div class="links">
        <LinkList links={links} none="waits for no job" />
        <span>
          <span aria-hidden="true">→</span> <State state={stateOf(job)} /> this <span aria-hidden="true">→</span>
        </span>
        <LinkList links={waiters} none="no job waits for it" />
      </div>
      {parent !== null && parent !== id && (
        <p class="muted">
          Created by <JobLink id={parent} />
        </p>
      )}
    </Card>
  )
}

function LinkList({ links, none }: { readonly links: readonly LinkView[]; readonly none: string }) {
  if (links.length === 0) return <span class="muted">{none}</span>
  return (
    <ul class="lines">
      {links.map((link, at) => (
        <li key={at}>
          <State state={link.state} />
          {link.id === null ? (
            <span class="muted">hidden from you</span>
          ) : (
            <JobLink id={link.id}>
              <Text>{link.job ?? shortId(link.id)}</Text>
            </JobLink>
          )}
        </li>
      ))}
    </ul>
  )
}

export function Facts({ job }: { readonly job: JobView }) {
  const facts: readonly (readonly [string, preact.ComponentChildren])[] = [
    [
      'Job',
      <a key="job" href={toJobs(`job:${quoted(job.job)}`)} title="All jobs with this key">
        {visible(job.job)}
      </a>,
    ],
    [
      'Id',
      <span key="id" class="mono">
        {job.id}
      </span>,
    ],
    ...(job.number === null ? [] : [['Number', String(job.number)] as const]),
    ...(job.copyOf === null ? [] : [['Copy of', <JobLink key="copy" id={job.copyOf} />] as const]),
    ['Created', <Precise key="created" at={job.createdAt} />],
    ['Due', <Precise key="due" at={job.runAt} />],
    ['Started', <Precise key="started" at={job.startedAt} />],
    ['Ended', <Precise key="ended" at={job.finishedAt} />],
    ['Timeout', job.timeoutMs === null ? 'none' : duration(job.timeoutMs)],
    ...(job.tags.length === 0 ? [] : [['Tags', <TagList key="tags" tags={job.tags} />] as const]),
    ...(job.group === null
      ? []
      : [
          [
            'Group',
            <a key="group" href={toJobs(`group:${quoted(job.group)}`)} title="All jobs of this group">
              <Text>{job.group}</Text>
            </a>,
          ] as const,
        ]),
    ...(job.uniqueKey === null ? [] : [['Unique key', visible(job.uniqueKey)] as const]),
    ...(job.idempotencyKey === null ? [] : [['Idempotency key', visible(job.idempotencyKey)] as const]),
    ...(job.schedule === null
      ? []
      : [
          [
            'Schedule',
            <a key="schedule" href={to('schedules', job.schedule)}>
              <ScheduleName name={job.schedule} />
            </a>,
          ] as const,
        ]),
    ...(job.root === null
      ? []
      : [
          [
            'Workflow',
            <a key="workflow" class="mono" href={to('workflows', job.root)} title={job.root}>
              {shortId(job.root)}
            </a>,
          ] as const,
        ]),
    ...(job.repeat === null ? [] : [['Repeat', visible(job.repeat)] as const]),
    ...(job.rescues === 0 ? [] : [['Rescues', `${job.rescues} (its worker died)`] as const]),
  ]
  return (
    <Card title="Facts">
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  )
}
