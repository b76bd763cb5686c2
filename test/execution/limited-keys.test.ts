import { expect, it } from 'vitest'
import { world } from '../world.ts'

const whole = { id: 'whole', secret: 'a secret for all of the jobs' }
const mail = { id: 'mail', secret: 'a secret for the mail alone' }

it('a worker with a limited key gives results of its own jobs to those that wait, and to nobody else', async () => {
  const sender = world({ signingKey: [whole, { ...mail, queues: ['mail'] }] })
  const taken: unknown[] = []
  const take = sender.jobs
    .define('take', async (_: unknown, ctx) => void taken.push((await ctx.dependencies()).map(({ result }) => result)))
    .queue('second')
  // One that knows the keys, and says nothing of the limits.
  const worker = sender.other({ signingKey: [mail, whole] })
  worker.jobs.define('letter', async (n: number) => ({ n }))
  worker.jobs.define('charge', async (n: number) => ({ n }))
  const letter = await sender.jobs.declare('letter').queue('mail').dispatch(1)
  const charge = await sender.jobs.declare('charge').queue('billing').dispatch(2)
  const genuine = await take.dispatch({}, { dependsOn: letter })
  const refused = await take.dispatch({}, { dependsOn: charge })
  await worker.jobs.run({ queues: ['mail', 'billing'] })
  await sender.jobs.run({ queues: ['second'] })
  expect((await sender.record(genuine)).state).toBe('succeeded')
  expect(taken).toEqual([[{ n: 1 }]])
  expect(await letter.result()).toEqual({ n: 1 })
  expect(await sender.record(refused)).toMatchObject({ state: 'dead', reason: 'rejected', errors: [{ code: 'RESULT_FORGED' }] })
  await expect(charge.result()).rejects.toMatchObject({ code: 'RESULT_FORGED' })
})
