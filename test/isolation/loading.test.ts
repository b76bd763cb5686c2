import { afterEach, expect, test } from 'vitest'
import { isolatingProgram } from './isolating-program.ts'

afterEach(() => {
  delete process.env.ISOLATED_BEGINNING
})

test.each(['dispatch', 'chain', 'workflow', 'pause', 'prune'])(
  'a program that begins with a %s does not do it once more where it is loaded for a handler',
  async (beginning) => {
    process.env.ISOLATED_BEGINNING = beginning
    const { jobs, record } = isolatingProgram()
    const from = new URL('./modules/beginning.mjs', import.meta.url)
    const run = await jobs
      .define('begun', () => 'here')
      .isolate('thread', { from })
      .dispatch()
    await jobs.run()
    expect(await record(run)).toMatchObject({ state: 'succeeded', result: '"ran"' })
  },
)
