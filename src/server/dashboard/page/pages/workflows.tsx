import { useSignal } from '@preact/signals'
import { useEffect, useMemo } from 'preact/hooks'
import { quoted } from '../../shared/filter.ts'
import type { Counts } from '../../shared/views/job.ts'
import type { GraphNode, WorkflowPage, WorkflowRow, WorkflowView } from '../../shared/views/workflow.ts'
import { address, base, to, toJobs, withParameter } from '../address.ts'
import { change, may, now, read } from '../calls.ts'
import { bulk } from '../components/bulk.tsx'
import { type Layout, layoutOf } from '../components/graph-layout.ts'
import { Icon } from '../components/icons.tsx'
import { ask, attempt } from '../components/messages.tsx'
import {
  Ago,
  Card,
  Code,
  Empty,
  JobLink,
  Problem,
  Progress,
  SearchedTo,
  State,
  Text,
  tick,
  Waiting,
} from '../components/parts.tsx'
import { count, duration, exact, shortId, visible } from '../format.ts'
import { useLive } from '../live.ts'
import type { PageProps } from '../main.tsx'

export function Workflows({ argument }: PageProps) {
  return argument === undefined ? <List /> : <Detail root={argument} />
}

/** The newest workflows, which follow their jobs, and those that were asked for on top of them. */
function useWorkflows() {
  const live = useLive<WorkflowPage>('workflows')
  const seen = useSignal<ReadonlyMap<string, WorkflowRow>>(new Map())
  const older = useSignal<Pick<WorkflowPage, 'next' | 'searched'> | null>(null)
  const busy = useSignal(false)
  const problem = useSignal<string | null>(null)
  const add = (rows: readonly WorkflowRow[]) => {
    seen.value = new Map([...seen.value, ...rows.map((row) => [row.root, row] as const)])
  }
  useEffect(() => {
    if (live.data !== null) add(live.data.workflows)
  }, [live.data])
  const end = older.value ?? live.data
  const load = async () => {
    if (end?.next == null) return
    busy.value = true
    try {
      const page = await read<WorkflowPage>('workflows', { cursor: end.next })
      add(page.workflows)
      const jobs = end.searched.jobs + page.searched.jobs
      older.value = { next: page.next, searched: { jobs, until: page.searched.until ?? end.searched.until } }
    } catch (refused) {
      problem.value = (refused as Error).message
    }
    busy.value = false
  }
  const rows = [...seen.value.values()].toSorted((one, other) => other.startedAt - one.startedAt)
  return { live, rows, end, busy: busy.value, problem: problem.value, load }
}

function List() {
  const { live, rows, end, busy, problem, load } = useWorkflows()
  return (
    <>
      <h1>Workflows</h1>
      <Problem problem={problem === null ? live.problem : { title: '', detail: problem }} />
      {end === null ? (
        <Waiting live={{ ...live, problem: null }} />
      ) : (
        <Card>
          {rows.length === 0 ? (
            <Empty title="No workflow among the newest jobs">
              <p>Jobs that depend on each other form a workflow:</p>
              <Code>{"await jobs.chain([render.step({ page: 1 }), send.step({ to: 'ada@example.com' })])"}</Code>
            </Empty>
          ) : (
            <div class="scroll" tabIndex={0} role="region" aria-label="Workflows">
              <table class="stack">
                <thead>
                  <tr>
                    <th>workflow</th>
                    <th>state</th>
                    <th>done</th>
                    <th class="num">failed</th>
                    <th class="num">jobs</th>
                    <th>created</th>
                    <th>id</th>
                  </tr>
                </thead>
                <tbody>
                  {rows.map(({ root, name, total, counts, startedAt }) => (
                    <tr key={root} data-row>
                      <td class="main line">
                        <a href={to('workflows', root)}>
                          <Text>{name}</Text>
                        </a>
                      </td>
                      <td>
                        <State state={stateOfCounts(counts)} />
                      </td>
                      <td>
                        <Progress value={ended(counts) / Math.max(1, total)} label={`Done of ${name}`} />
                      </td>
                      <td class="num" data-label="failed">
                        {count(counts.dead)}
                      </td>
                      <td class="num" data-label="jobs">
                        {count(total)}
                      </td>
                      <td data-label="created">
                        <Ago at={startedAt} />
                      </td>
                      <td class="mono">{shortId(root)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
          <SearchedTo searched={end.searched} next={end.next} busy={busy} onMore={() => void load()} />
        </Card>
      )}
    </>
  )
}

function ended(counts: Counts): number {
  return counts.succeeded + counts.dead + counts.cancelled + counts.skipped
}

function stateOfCounts(counts: Counts): string {
  const living = (['running', 'ready', 'scheduled', 'blocked'] as const).find((state) => counts[state] > 0)
  if (living !== undefined) return 'running'
  return counts.dead > 0 ? 'dead' : counts.cancelled > 0 ? 'cancelled' : 'succeeded'
}

function Detail({ root }: { readonly root: string }) {
  void tick.value
  const live = useLive<WorkflowView>(`workflow:${root}`)
  const { data } = live
  if (data === null)
    return (
      <>
        <h1>
          Workflow <span class="mono">{shortId(root)}</span>
        </h1>
        <Waiting live={live} />
      </>
    )
  const view = address.value.query.get('view') === 'table' ? 'table' : 'graph'
  const left = data.total - ended(data.counts)
  const cancel = () =>
    ask({
      title: 'Cancel this workflow?',
      text: `${exact(left)} of its jobs ${left === 1 ? 'has' : 'have'} not ended. Running jobs are asked to stop.`,
      action: 'Cancel the workflow',
      isDangerous: true,
      onAnswer: () =>
        void attempt(
          () => change<{ readonly cancelled: number; readonly requested: number }>('POST', 'cancel-workflow', { root }),
          ({ cancelled, requested }) => `${cancelled} cancelled, ${requested} asked to stop.`,
        ),
    })
  return (
    <>
      <header class="page-head">
        <h1>
          Workflow <Text>{data.name}</Text>
        </h1>
        <span class="mono">{shortId(root)}</span>
        <State state={stateOfCounts(data.counts)} />
        <span class="muted">
          {exact(ended(data.counts))} of {exact(data.total)} · {exact(data.counts.dead)} failed ·{' '}
          {duration((data.endedAt ?? now()) - data.startedAt)}
        </span>
        {may() && (
          <span class="actions">
            {left > 0 && (
              <button type="button" onClick={cancel}>
                <Icon name="bar" /> Cancel …
              </button>
            )}
            {data.counts.dead > 0 && (
              <button type="button" onClick={() => void bulk('retry', { filter: `state:dead root:${quoted(root)}` }, () => {})}>
                <Icon name="again" /> Retry failed …
              </button>
            )}
          </span>
        )}
      </header>
      <Problem problem={live.problem} />
      <Card
        title={view === 'graph' ? 'Graph' : 'Table'}
        actions={
          <span class="switch" role="group" aria-label="How it is shown">
            <a href={base + withParameter('view', null)} aria-current={view === 'graph' ? 'true' : undefined}>
              graph
            </a>
            <a href={base + withParameter('view', 'table')} aria-current={view === 'table' ? 'true' : undefined}>
              table
            </a>
          </span>
        }
      >
        {view === 'graph' ? <Graph view={data} /> : <Table view={data} />}
        {data.cut && (
          <p class="footnote">
            Only its newest 500 jobs are shown. <a href={toJobs(`root:${quoted(root)}`)}>All of them</a>
          </p>
        )}
      </Card>
    </>
  )
}

const [nodeWidth, nodeHeight, gapX, gapY, edge] = [168, 44, 56, 16, 12]

function Graph({ view: { nodes, edges, root } }: { readonly view: WorkflowView }) {
  // Nodes keep their positions while only the states of jobs change.
  const shape = JSON.stringify([nodes.length, edges])
  const layout = useMemo(() => layoutOf(nodes.length, edges), [shape])
  const width = layout.layers * (nodeWidth + gapX) - gapX + 2 * edge
  const height = layout.rows * (nodeHeight + gapY) - gapY + 2 * edge
  return (
    <div class="scroll graph-place" tabIndex={0} role="region" aria-label="Graph">
      <svg
        class="graph"
        width={width}
        height={height}
        viewBox={`0 0 ${width} ${height}`}
        role="group"
        aria-label={`Graph of ${nodes.length} steps`}
      >
        {edges.map(([from, target], at) => (
          <path key={at} class="edge" d={lineOf(layout, from, target, at)} />
        ))}
        {nodes.map((node, at) => (
          <Node key={at} node={node} root={root} x={xOf(layout.places[at]?.layer ?? 0)} y={yOf(layout.places[at]?.row ?? 0)} />
        ))}
      </svg>
    </div>
  )
}

const xOf = (layer: number) => edge + layer * (nodeWidth + gapX)
const yOf = (row: number) => edge + row * (nodeHeight + gapY)

function lineOf({ places, bends }: Layout, from: number, target: number, at: number): string {
  const [a, b] = [places[from], places[target]]
  if (a === undefined || b === undefined) return ''
  const points = [
    [xOf(a.layer) + nodeWidth, yOf(a.row) + nodeHeight / 2],
    ...(bends[at] ?? []).flatMap(({ layer, row }) => [
      [xOf(layer), yOf(row) + nodeHeight / 2],
      [xOf(layer) + nodeWidth, yOf(row) + nodeHeight / 2],
    ]),
    [xOf(b.layer), yOf(b.row) + nodeHeight / 2],
  ] as [number, number][]
  return points.reduce((path, [x, y], index) => {
    const before = points[index - 1]
    if (before === undefined) return `M${x} ${y}`
    const middle = (before[0] + x) / 2
    return `${path}C${middle} ${before[1]} ${middle} ${y} ${x} ${y}`
  }, '')
}

function Node({ node, root, x, y }: { readonly node: GraphNode; readonly root: string; readonly x: number; readonly y: number }) {
  const { job, state, id, size, done, failed } = node
  const href = id === null ? toJobs(`root:${quoted(root)} job:${quoted(job)}`) : to('jobs', id)
  const words = size === 1 ? state : `${done} of ${size} ended${failed > 0 ? `, ${failed} failed` : ''}`
  const name = visible(job)
  return (
    <a href={href}>
      <g class={`node state-${state}`} transform={`translate(${x} ${y})`}>
        {size > 1 && <rect class="node-shadow" x="4" y="4" width={nodeWidth} height={nodeHeight} rx="6" />}
        <rect class="node-box" width={nodeWidth} height={nodeHeight} rx="6" />
        {size > 1 && <rect class="node-bar" x="0" y={nodeHeight - 4} width={(nodeWidth * done) / size} height="4" rx="2" />}
        <text x="12" y="19" class="node-name">
          {name.length > 20 ? `${name.slice(0, 19)}…` : name}
          {size > 1 && ` ×${count(size)}`}{' '}
        </text>
        <text x="12" y="34" class="node-state">
          {words}
        </text>
      </g>
    </a>
  )
}

function Table({ view: { nodes, root } }: { readonly view: WorkflowView }) {
  const order = (state: string) =>
    ['dead', 'running', 'ready', 'scheduled', 'blocked', 'cancelled', 'skipped', 'succeeded'].indexOf(state)
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Steps">
      <table>
        <thead>
          <tr>
            <th>step</th>
            <th>state</th>
            <th class="num">jobs</th>
            <th class="num">ended</th>
            <th class="num">failed</th>
            <th class="num">took</th>
          </tr>
        </thead>
        <tbody>
          {nodes
            .toSorted((a, b) => order(a.state) - order(b.state))
            .map((node, at) => (
              <tr key={at} data-row>
                <td class="main">
                  {node.id === null ? (
                    <a href={toJobs(`root:${quoted(root)} job:${quoted(node.job)}`)}>
                      <Text>{node.job}</Text>
                    </a>
                  ) : (
                    <JobLink id={node.id}>
                      <Text>{node.job}</Text>
                    </JobLink>
                  )}
                </td>
                <td>
                  <State state={node.state} />
                </td>
                <td class="num">{node.size}</td>
                <td class="num">{node.done}</td>
                <td class="num">{node.failed}</td>
                <td class="num">{node.startedAt === null ? '–' : duration((node.finishedAt ?? now()) - node.startedAt)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </div>
  )
}
