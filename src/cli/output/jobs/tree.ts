import { finalStates, jobStates } from '../../../queue/contract/job-state.ts'
import type { TreeCounts } from '../../../queue/contract/queue-counts.ts'
import type { JobLink, JobRecord } from '../../../queue/contract/store.ts'
import type { Output } from '../output.ts'
import { plural, visibleLine } from '../text.ts'
import { stateColour } from './jobs.ts'

/** A job of a workflow, and the jobs that it waits for, as far as they are stored. */
export interface TreeJob {
  readonly job: JobRecord
  readonly links: readonly JobLink[]
}

/** The progress of a workflow in one line. */
export function progressLine({ total, counts }: TreeCounts): string {
  const ended = finalStates.reduce((sum, state) => sum + counts[state], 0)
  const states = jobStates.filter((state) => counts[state] > 0).map((state) => `${counts[state]} ${state}`)
  return `${ended} of ${plural(total, 'job')} ${total === 1 ? 'has' : 'have'} finished (${states.join(', ') || 'none is left'})`
}

/** What a job waits for, one line each. */
export function linkLines(links: readonly JobLink[], out: Output): readonly string[] {
  return links.map(({ kind, id, job, key, state, error }) => {
    const colour = state === 'missing' ? out.colours.red : stateColour(out.colours, state)
    const name = kind === 'child' ? `child ${key}` : (job ?? 'a job that does not exist')
    return `${colour(state)} ${visibleLine(name)} ${visibleLine(id)}${error === null ? '' : `: ${visibleLine(error)}`}`
  })
}

/** Parents with their children below them; a job that waits for others names them. */
export function drawTree(jobs: readonly TreeJob[], out: Output): string {
  const ids = new Set(jobs.map(({ job }) => job.id))
  const oldestFirst = [...jobs].reverse()
  const childrenOf = new Map<string | null, TreeJob[]>()
  for (const each of oldestFirst) {
    const parent = each.job.parent !== null && ids.has(each.job.parent) ? each.job.parent : null
    childrenOf.set(parent, [...(childrenOf.get(parent) ?? []), each])
  }
  const numbers = new Map(oldestFirst.map(({ job }, index) => [job.id, index + 1]))
  return branches(null, '', { childrenOf, numbers, out }).join('\n')
}

interface Drawing {
  readonly childrenOf: ReadonlyMap<string | null, readonly TreeJob[]>
  readonly numbers: ReadonlyMap<string, number>
  readonly out: Output
}

function branches(parent: string | null, indent: string, drawing: Drawing): readonly string[] {
  const children = drawing.childrenOf.get(parent) ?? []
  return children.flatMap((child, index) => {
    const isLast = index === children.length - 1
    const [mark, below] = parent === null ? ['', ''] : isLast ? ['└─ ', '   '] : ['├─ ', '│  ']
    return [`${indent}${mark}${jobLine(child, drawing)}`, ...branches(child.job.id, indent + below, drawing)]
  })
}

function jobLine({ job, links }: TreeJob, { numbers, out }: Drawing): string {
  const after = links.filter(({ kind }) => kind === 'dependency').map(({ id }) => numbers.get(id) ?? visibleLine(id))
  const waits = after.length === 0 ? '' : out.colours.dim(` after ${listed(after)}`)
  const state = stateColour(out.colours, job.state)(job.state)
  return `${numbers.get(job.id)}. ${visibleLine(job.name)} ${state} ${out.colours.dim(visibleLine(job.id))}${waits}`
}

const mostNamed = 10

function listed(names: readonly (string | number)[]): string {
  const rest = names.length - mostNamed
  return rest > 0 ? `${names.slice(0, mostNamed).join(', ')} and ${rest} more` : names.join(', ')
}
