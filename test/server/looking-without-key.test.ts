import { expect, it, onTestFinished } from 'vitest'
import { treadle } from '../../src/app/treadle.ts'
import { serve } from '../../src/server/serve.ts'
import { freshDatabase } from '../services.ts'

it.each(['postgres', 'mariadb'] as const)('a server that only shows a queue on %s needs no signing key', async (engine) => {
  const database = await freshDatabase(engine)
  onTestFinished(() => database[Symbol.asyncDispose]())
  await using sender = treadle(database.url, { signingKey: 'a secret of sixteen' })
  const { id } = await sender.declare('mail').dispatch({ to: 'ada' })

  await using jobs = treadle(database.url)
  const secret = 'a token that is long enough for everybody'
  await using server = await serve(jobs, { port: null, httpPort: 0, tokens: [{ role: 'read', secret }] })
  const url = `http://127.0.0.1:${server.httpAddress?.port}/api/v1/jobs/${id}`
  const answer = await fetch(url, { headers: { authorization: `Bearer ${secret}` } })
  expect(await answer.json()).toMatchObject({ id, state: 'ready', payload: { to: 'ada' } })

  await expect(serve(jobs, { port: null, httpPort: 0, tokens: [{ role: 'work', secret }] })).rejects.toMatchObject({
    code: 'KEY_INVALID',
  })
  await expect(jobs.declare('mail').dispatch({})).rejects.toMatchObject({ code: 'KEY_INVALID' })
})
