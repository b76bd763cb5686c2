import type { JobDefinition } from '../definition.ts'

/** Sorts jobs so that each follows the ones it comes after or depends on; otherwise keeps the given order. */
export function orderByDependency(definitions: readonly JobDefinition[]): readonly JobDefinition[] {
  return walk(definitions).order
}

/** Problems between definitions. A job that is known but not in the list is invalid itself and is reported separately. */
export function dependencyProblems(definitions: readonly JobDefinition[], isKnown: (job: string) => boolean): readonly string[] {
  const byJob = new Map(definitions.map((definition) => [definition.job, definition]))
  const wrongNames = definitions.flatMap(({ job, fields }) => [
    ...fields.after.map((name) => nameProblem(`Job "${job}" comes after "${name}"`, byJob.get(name), isKnown(name))),
    ...fields.dependsOn.map(({ job: name }) => nameProblem(`Job "${job}" depends on "${name}"`, byJob.get(name), isKnown(name))),
  ])
  const circles = walk(definitions).circles.map((path) => `The order of scheduled jobs is circular: ${path.join(' -> ')}`)
  return [...wrongNames.filter((problem) => problem !== undefined), ...circles]
}

function nameProblem(says: string, named: JobDefinition | undefined, isKnown: boolean): string | undefined {
  if (!isKnown) return `${says}, which is not defined here: define() or declare() it with its schedule`
  return named?.fields.schedule === null ? `${says}, which has no schedule: add one, such as daily()` : undefined
}

interface Walk {
  readonly order: readonly JobDefinition[]
  readonly circles: readonly (readonly string[])[]
}

/** Depth-first walk from each job through its predecessors, visiting each once. */
function walk(definitions: readonly JobDefinition[]): Walk {
  const byJob = new Map(definitions.map((definition) => [definition.job, definition]))
  const order: JobDefinition[] = []
  const circles: (readonly string[])[] = []
  const done = new Set<string>()
  const visit = (definition: JobDefinition, trail: readonly string[]): void => {
    const { job } = definition
    if (done.has(job)) return
    const seenAt = trail.indexOf(job)
    if (seenAt >= 0) {
      circles.push([...trail.slice(seenAt), job])
      return
    }
    for (const name of namedBefore(definition)) {
      const before = byJob.get(name)
      if (before !== undefined) visit(before, [...trail, job])
    }
    done.add(job)
    order.push(definition)
  }
  for (const definition of definitions) visit(definition, [])
  return { order, circles }
}

function namedBefore({ fields }: JobDefinition): ReadonlySet<string> {
  return new Set([...fields.after, ...fields.dependsOn.map(({ job }) => job)])
}
