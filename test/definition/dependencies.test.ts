import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { definitionDefaults, JobDefinition } from '../../src/definition/definition.ts'
import { orderByDependency } from '../../src/definition/policies/dependencies.ts'
import { Registry } from '../../src/definition/registry.ts'
import { parseCron } from '../../src/scheduling/calendar/cron/cron.ts'

const daily = parseCron('0 0 * * *', 'UTC')

describe('A11, X6: jobs that name others', () => {
  it('are refused with all that is wrong at once: unknown names, jobs without a schedule, and circles with their paths', () => {
    const registry = registryOf(
      job('a', { after: ['b'] }),
      job('b', { dependsOn: [needs('c')] }),
      job('c', { after: ['a', 'nobody'] }),
      job('alone', { dependsOn: [needs('alone')] }),
      job('d', { dependsOn: [needs('missing'), needs('unscheduled')], after: ['a'] }),
      job('unscheduled', { schedule: null }),
    )
    const problems = [
      'Job "c" comes after "nobody", which is not defined here: define() or declare() it with its schedule',
      'Job "d" depends on "missing", which is not defined here: define() or declare() it with its schedule',
      'Job "d" depends on "unscheduled", which has no schedule: add one, such as daily()',
      'The order of scheduled jobs is circular: a -> b -> c -> a',
      'The order of scheduled jobs is circular: alone -> alone',
    ]
    expect(registry.problems()).toEqual(problems)
    expect(() => registry.definitions()).toThrow(
      expect.objectContaining({ code: 'DEFINITION_INVALID', message: problems.join('; ') }),
    )
  })

  it('are refused only where all definitions are asked for: a program that dispatches one does not need the others', () => {
    expect(registryOf(job('a', { after: ['elsewhere'] })).get('a').fields.after).toEqual(['elsewhere'])
  })

  it('are accepted when what they name is defined later', () => {
    const registry = registryOf(job('a', { after: ['b'] }))
    expect(() => registry.definitions()).toThrow('"b", which is not defined here')
    registry.add(described(job('b')))
    expect(registry.definitions()).toHaveLength(2)
    expect(registry.problems()).toEqual([])
  })

  it('are not blamed for the problems of those', () => {
    const registry = registryOf(job('a', { after: ['broken'] }))
    registry.add({
      job: 'broken',
      toDefinition: () => {
        throw new Error('broken in its own way')
      },
    })
    expect(registry.problems()).toEqual(['broken in its own way'])
  })
})

describe('the order of scheduled jobs', () => {
  it('is the one in which they were defined where nothing is said', () => {
    expect(ordered(job('c'), job('a'), job('b'))).toEqual(['c', 'a', 'b'])
  })

  it('D9, A11: puts a job behind those that it comes after or depends on', () => {
    expect(
      ordered(job('load', { dependsOn: [needs('transform')] }), job('transform', { after: ['extract'] }), job('extract')),
    ).toEqual(['extract', 'transform', 'load'])
  })

  it('goes on without those that are not followed here', () => {
    expect(ordered(job('b', { after: ['elsewhere'] }), job('a', { after: ['b'] }))).toEqual(['b', 'a'])
  })

  it('holds for any jobs without circles: each stands once, behind all that it names', () => {
    const edges = fc.array(fc.tuple(fc.nat(29), fc.nat(29)), { maxLength: 80 })
    const permutation = fc.shuffledSubarray([...Array(30).keys()], { minLength: 30 })
    fc.assert(
      fc.property(edges, permutation, (pairs, order) => {
        const named = (number: number) => pairs.flatMap(([one, two]) => (number > two && number === one ? [`job ${two}`] : []))
        const definitions = order.map((number) => job(`job ${number}`, { after: named(number) }))
        const result = orderByDependency(definitions)
        expect(new Set(result).size).toBe(30)
        const placeOf = new Map(result.map(({ job: name }, place) => [name, place]))
        for (const { job: name, fields } of result) {
          for (const before of fields.after) expect(placeOf.get(before)).toBeLessThan(placeOf.get(name) as number)
        }
      }),
      { seed: 1 },
    )
  })
})

function needs(name: string) {
  return { job: name, onFailure: 'skip' } as const
}

function job(name: string, changes: Partial<JobDefinition['fields']> = {}): JobDefinition {
  return new JobDefinition({ ...definitionDefaults, job: name, name, handler: async () => {}, schedule: daily, ...changes })
}

function described(definition: JobDefinition) {
  return { job: definition.job, toDefinition: () => definition }
}

function registryOf(...definitions: readonly JobDefinition[]): Registry {
  const registry = new Registry()
  for (const definition of definitions) registry.add(described(definition))
  return registry
}

function ordered(...definitions: readonly JobDefinition[]): readonly string[] {
  return orderByDependency(definitions).map(({ job: name }) => name)
}
