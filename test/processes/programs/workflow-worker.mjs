import { appendFileSync } from 'node:fs'
import { treadle } from 'treadle'

/** Works on a batch and a chain; hangs in the job that it is told to hang in, so that it can be killed there. */
const { url, log, hangAt = null, send = false } = JSON.parse(process.argv[2])
const jobs = treadle(url, { signingKey: 'a key for tests, of 32 characters' })

const work = (kind) => async (n) => {
  if (`${kind} ${n}` === hangAt) {
    console.log('hanging')
    await new Promise(() => {})
  }
  appendFileSync(log, `${kind} ${n}\n`)
  return n
}
const member = jobs.define('member', work('member'))
const link = jobs.define('link', work('link'))
const callback = jobs.define('callback', work('callback'))
const parent = jobs.define('parent', async (count, ctx) => {
  for (let n = 0; n < count; n++) await ctx.dispatchChild(member, `of parent ${n}`)
  const children = await ctx.children()
  appendFileSync(log, `parent ${children.length}\n`)
  return children.length
})

if (send) {
  const count = 200
  const steps = Array.from({ length: count }, (_, n) => member.step(n))
  const callbacks = {
    onSuccess: callback.step('success'),
    onFailure: callback.step('failure'),
    onComplete: callback.step('complete'),
  }
  const batch = await jobs.batch(steps, callbacks)
  const chain = await jobs.chain(Array.from({ length: 20 }, (_, n) => link.step(n)))
  const run = await parent.dispatch(10)
  console.log(`sent ${batch.id} ${chain.id} ${run.id}`)
}
await jobs.work({ lease: '2s', concurrency: 4, scheduler: false })
await jobs.close()
