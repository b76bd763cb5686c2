import { describe, expect, it } from 'vitest'
import { checkConfig, configProblems, defineConfig } from '../../src/app/config/config.ts'

describe('a config', () => {
  it('is given back as it is', () => {
    const config = { url: 'sqlite:jobs.db', jobs: ['jobs', 'more/jobs.ts'], worker: { concurrency: 3 } }
    expect(defineConfig(config)).toBe(config)
    expect(checkConfig(config, 'treadle.config.ts')).toBe(config)
  })

  it('is refused with everything that is wrong with it, and the file', () => {
    const wrong = { url: 7, jobs: [1], worker: { concurency: 3 }, loger: console }
    expect(() => checkConfig(wrong, '/app/treadle.config.ts')).toThrow(
      `/app/treadle.config.ts: url must be a string such as 'sqlite:jobs.db', got a number; jobs must be a path or a list of paths, got a list; unknown option "loger", did you mean "logger"?; worker: unknown option "concurency", did you mean "concurrency"?`,
    )
  })

  it.each([
    [null, 'null'],
    [undefined, 'undefined'],
    ['sqlite:x.db', 'a string'],
    [[], 'a list'],
    [() => ({}), 'a function'],
  ])('is an object and not %s', (value, name) => {
    expect(configProblems(value)).toEqual([`the config must be an object with options, got ${name}`])
  })

  it('has values that can be read', () => {
    expect(configProblems({ keep: { dead: 'long' }, worker: { lease: '1ms', concurrency: 0 } })).toEqual([
      expect.stringContaining('keep.dead must be a number of milliseconds or a string such as'),
      'worker: concurrency must be a whole number from 1 to 10000, got 0; lease must be from 1s to 1d, got 1 ms',
    ])
  })

  it('names queues that there can be, and an environment', () => {
    expect(configProblems({ environment: 5, worker: { queues: ['mail', 'a b', 'c d'] } })).toEqual([
      "environment must be a string such as 'production', got 5",
      expect.stringMatching(/^worker: queues: a queue must be .*, got 'a b'$/),
      expect.stringMatching(/^worker: queues: a queue must be .*, got 'c d'$/),
    ])
  })

  it('is refused with each problem on its own in the cause', () => {
    const refused = expect(() => checkConfig({ ulr: 'x', worker: 3 }, 'a.ts'))
    refused.toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        cause: expect.objectContaining({ errors: [expect.anything(), expect.anything()] }),
      }),
    )
  })

  it('names a url or a backend, not both', () => {
    expect(configProblems({ url: 'sqlite:x.db', backend: {} })).toEqual(['give either url or backend, not both'])
  })
})
