import { enterIsolate } from '../../isolation/inside.ts'
import { insideChannel } from '../../isolation/inside-channel.ts'
import { serve } from '../../isolation/serving.ts'

/** What a thread or a process runs that was started for isolated handlers. */
const inside = enterIsolate()
serve(insideChannel(), inside, async (modules) => {
  // Not before it is known that this is an isolate: the library makes its default instance as soon as it is loaded.
  const { loadIsolateModules } = await import('./isolate-modules.ts')
  await loadIsolateModules(modules)
})
