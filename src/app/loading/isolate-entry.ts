import { insideChannel } from '../../isolation/channels/inside-channel.ts'
import { enterIsolate } from '../../isolation/inside.ts'
import { serve } from '../../isolation/serving.ts'

/** Entry point of a thread or process that runs isolated handlers. */
const inside = enterIsolate()
serve(insideChannel(), inside, async (modules) => {
  // Import this only after entering the isolate: loading the library creates its default instance.
  const { loadIsolateModules } = await import('./isolate-modules.ts')
  await loadIsolateModules(modules)
})
