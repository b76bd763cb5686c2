import { describe, expect, it } from 'vitest'
import { treadle } from '../../src/app/treadle.ts'
import type { JobBuilder } from '../../src/definition/builder.ts'

const define = (): JobBuilder => treadle('memory:').define('render', () => {})

describe('a job', () => {
  it('runs in the worker itself unless it says otherwise', () => {
    expect(define().toDefinition().fields.isolation).toBeNull()
  })

  it('says where its handler runs, and how it is ended there', () => {
    const from = import.meta.url
    const { isolation } = define().isolate('process', { memory: '256mb', from, grace: '2s' }).toDefinition().fields
    expect(isolation).toEqual({ kind: 'process', memoryBytes: 268_435_456, from: import.meta.filename, graceMs: 2_000 })
    expect(Object.isFrozen(isolation)).toBe(true)
    const byDefault = { kind: 'thread', memoryBytes: null, from: null, graceMs: 1_000 }
    expect(define().isolate('thread').toDefinition().fields.isolation).toEqual(byDefault)
  })

  it('takes a URL, or an absolute path', () => {
    for (const from of [new URL(import.meta.url), import.meta.filename]) {
      expect(define().isolate('thread', { from }).toDefinition().fields.isolation?.from).toBe(import.meta.filename)
    }
  })

  it('can be moved back into the worker', () => {
    const isolated = define().isolate('thread').toDefinition()
    expect(isolated.withIsolation(null).fields.isolation).toBeNull()
    expect(isolated.fields.isolation).not.toBeNull()
  })

  it.each<[string, (job: JobBuilder) => unknown, string]>([
    ['another kind', (job) => job.isolate('vm' as never), `Job "render": isolate takes 'thread' or 'process', got 'vm'`],
    ['too little memory', (job) => job.isolate('thread', { memory: '8mb' }), 'isolate.memory must be at least 16mb, got 8388608'],
    ['memory that is none', (job) => job.isolate('thread', { memory: 'much' }), 'isolate.memory must be a number of bytes or a'],
    [
      'a relative module',
      (job) => job.isolate('thread', { from: './jobs.ts' }),
      'isolate.from must be import.meta.url, a file: URL',
    ],
    ['a module of the web', (job) => job.isolate('thread', { from: 'http://a/b' }), 'isolate.from must be import.meta.url'],
    ['a module that is a number', (job) => job.isolate('thread', { from: 4 as never }), 'isolate.from must be import.meta.url'],
    ['options that are null', (job) => job.isolate('thread', null as never), 'its options must be an object (known: memory,'],
    ['a grace that is none', (job) => job.isolate('thread', { grace: 'short' }), 'isolate.grace must be'],
    [
      'an unknown option',
      (job) => job.isolate('thread', { memmory: 1 } as never),
      'unknown option "memmory", did you mean "memory"?',
    ],
  ])('refuses %s', (_, isolate, message) => {
    expect(() => isolate(define())).toThrow(message)
  })
})
