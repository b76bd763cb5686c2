import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { conformanceTitles } from '../../src/testing/conformance/index.ts'
import { beanstalkdGaps, shownElsewhere } from '../backends/beanstalkd-gaps.ts'
import { coordinatedGaps } from '../backends/coordinated-gaps.ts'
import { memoryGaps } from '../backends/memory-gaps.ts'
import { redisGaps } from '../backends/redis-gaps.ts'
import { coordinatedGaps as besideServiceBus } from '../service-bus/coordinated-gaps.ts'
import { gaps as serviceBusGaps } from '../service-bus/gaps.ts'

type Gaps = Readonly<Record<string, string>>

/** What each engine declares as a gap where the conformance suite is run on it. */
const engines: Readonly<Record<string, Gaps>> = {
  SQLite: {},
  PostgreSQL: {},
  'MySQL, MariaDB': {},
  'Redis, Valkey': redisGaps,
  memory: memoryGaps,
  Beanstalkd: beanstalkdGaps,
  'Beanstalkd with Redis beside it': { ...redisGaps, ...coordinatedGaps },
  'Service Bus': serviceBusGaps,
  'Service Bus with a store beside it': { ...memoryGaps, ...besideServiceBus },
}

const groups = [...new Set(conformanceTitles.map(({ group }) => group))]
const titlesOf = (group: string) => conformanceTitles.filter((each) => each.group === group).map(({ title }) => title)

test('docs/engines.md shows what each engine declares', async () => {
  const page = fileURLToPath(new URL('../../docs/engines.md', import.meta.url))
  await expect(rendered()).toMatchFileSnapshot(page)
})

function rendered(): string {
  const names = Object.keys(engines)
  return `${[
    '# Engines',
    'Which engine to choose, and what each of them can do.',
    choice,
    '## What each engine can do',
    'Group by group, as the [conformance suite](testing.md#testing-a-backend-of-your-own) tests it on the real server. This part is generated from the gaps that the tests declare: `npx vitest run test/docs/engines.test.ts -u` writes it again.',
    table(
      ['', ...names],
      groups.map((group) => [group, ...names.map((name) => cell(group, engines[name] as Gaps))]),
    ),
    '\\* Some of it is shown by tests of its own: the server counts time by itself, and the suite moves its clock by hand.',
    ...names.flatMap((name) => reasons(name, engines[name] as Gaps)),
  ].join('\n\n')}\n`
}

const choice = `
| your situation | engine |
|---|---|
| You are starting, or everything runs on one machine | **SQLite**: a file and no server, with every commit on disk. Your own tables may be [in the same file](transactions.md#on-a-sqlite-file). [Move](moving.md) when one machine is not enough |
| Your application has a PostgreSQL, MySQL or MariaDB server | [**that server**](databases.md): jobs join your transactions and your backups |
| You have Redis or Valkey, and no tables that jobs must commit with | [**Redis**](redis.md), with \`appendfsync always\` if no job may be lost when the machine crashes |
| You have to use Beanstalkd or Azure Service Bus | [**the broker**](beanstalkd.md), with a [coordination store](beanstalkd.md#a-coordination-store-beside-the-broker) unless plain jobs are enough |
| Tests, or work that may be lost with the process | **\`memory:\`**, or \`sync:\` to run each job where it is dispatched |

| | SQLite | PostgreSQL | MySQL, MariaDB | Redis, Valkey | brokers |
|---|---|---|---|---|---|
| several machines | no | yes | yes | yes | yes |
| an acknowledged job survives a power failure | yes | yes | yes | with \`appendfsync always\` | depends on the broker |
| jobs in your own transactions | yes | yes | yes | no | no |
| wakes idle workers of other programs | yes | yes | no, they poll | yes | yes |
| schedules, workflows, limits, unique keys, lists | yes | yes | yes | yes | with a coordination store |
| package to install | none | \`pg\` | \`mysql2\` | \`ioredis\` | none, or \`@azure/service-bus\` |

The API, the command line and the guarantees are the same on all of them, so this decision can be changed later.`.trim()

function cell(group: string, gaps: Gaps): string {
  const titles = titlesOf(group)
  const declared = titles.flatMap((title) => gaps[group] ?? gaps[title] ?? [])
  const missing = declared.filter((reason) => !shownElsewhere.has(reason)).length
  if (missing === titles.length) return 'no'
  const mark = declared.length > missing ? ' \\*' : ''
  return `${missing === 0 ? 'yes' : `${titles.length - missing} of ${titles.length}`}${mark}`
}

function reasons(name: string, gaps: Gaps): readonly string[] {
  const declared = groups.flatMap((group) =>
    group in gaps
      ? [[group, '', gaps[group] as string]]
      : titlesOf(group).flatMap((title) => (title in gaps ? [[group, title, gaps[title] as string]] : [])),
  )
  return declared.length === 0 ? [] : [`## Gaps of ${name}`, table(['group', 'test', 'why not'], declared)]
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
