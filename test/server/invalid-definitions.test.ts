import { expect, test } from 'vitest'
import { treadle } from '../../src/app/treadle.ts'
import { serve } from '../../src/server/serve.ts'

test('a server does not start with an invalid definition, which would keep it from handing out any job', async () => {
  await using jobs = treadle('memory:')
  jobs.declare('mail').queue('two words')
  await expect(serve(jobs, { port: 0, httpPort: null })).rejects.toMatchObject({
    code: 'DEFINITION_INVALID',
    message: expect.stringContaining('Job "mail": a queue must be'),
  })
})
