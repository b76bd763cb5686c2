import { describe, expect, it } from 'vitest'
import { definitionDefaults, JobDefinition } from '../../src/definition/definition.ts'
import { Registry } from '../../src/definition/registry.ts'

describe('a registry', () => {
  it('gives definitions by their keys, and all of them in the order of their making', () => {
    const registry = registryOf('b', 'a')
    expect(registry.has('a')).toBe(true)
    expect(registry.get('a').job).toBe('a')
    expect(registry.definitions().map(({ job }) => job)).toEqual(['b', 'a'])
  })

  it('sees a job that is added later', () => {
    const registry = registryOf('a')
    expect(registry.definitions()).toHaveLength(1)
    registry.add(described('b'))
    expect(registry.definitions()).toHaveLength(2)
  })

  it('refuses a second job with the same key', () => {
    expect(() => registryOf('a', 'a')).toThrow(expect.objectContaining({ code: 'JOB_DUPLICATE' }))
  })

  it('names the jobs that there are when asked for one that is not', () => {
    expect(() => registryOf('a', 'b').get('c')).toThrow('No job is defined as "c". Defined here: a, b')
    expect(() => registryOf().get('c')).toThrow('Defined here: none')
    expect(registryOf('a').find('c')).toBeUndefined()
  })

  it('tells the problems of all definitions at once', () => {
    const registry = registryOf('sound')
    registry.add(described('one', { queue: '' }))
    registry.add(described('two', { maxAttempts: 0 }))
    const problems = registry.problems()
    expect(problems).toHaveLength(2)
    expect(problems[0]).toContain('Job "one": a queue must be')
    expect(problems[1]).toContain('Job "two": maxAttempts must be')
  })
})

function registryOf(...jobs: readonly string[]): Registry {
  const registry = new Registry()
  for (const job of jobs) registry.add(described(job))
  return registry
}

function described(job: string, changes: Partial<JobDefinition['fields']> = {}) {
  return {
    job,
    toDefinition: () => new JobDefinition({ ...definitionDefaults, job, name: job, handler: null, ...changes }),
  }
}
