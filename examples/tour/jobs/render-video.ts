import { setTimeout } from 'node:timers/promises'
import { jobs } from 'treadle'

/** Slow, and says how far it is. Its signal ends the wait when the job is cancelled, over its timeout, or cut off. */
export const renderVideo = jobs
  .define('render-video', async ({ frames }: { frames: number }, ctx) => {
    for (let frame = 1; frame <= frames; frame++) {
      await setTimeout(40, undefined, { signal: ctx.signal })
      await ctx.progress(frame / frames)
    }
    return { frames }
  })
  .timeout('1m')
  .singleInstance()
