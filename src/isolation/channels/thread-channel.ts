import { Worker } from 'node:worker_threads'
import { megabytes } from '../death.ts'
import type { Channel, ChannelEvents, ChannelOptions } from './channel.ts'

export function openThread({ entry, memoryBytes }: ChannelOptions, events: ChannelEvents): Channel {
  const thread = new Worker(entry, {
    name: 'treadle-isolate',
    argv: process.argv.slice(2),
    stdout: true,
    stderr: true,
    ...(memoryBytes !== null && { resourceLimits: { maxOldGenerationSizeMb: megabytes(memoryBytes) } }),
  })
  for (const stream of ['stdout', 'stderr'] as const) {
    thread[stream].on('data', (chunk: Buffer) => {
      process[stream].write(chunk)
      events.onOutput(stream, chunk)
    })
  }
  let thrown: unknown
  thread.on('message', events.onMessage)
  thread.on('messageerror', () => events.onMessage(undefined))
  thread.on('error', (error) => {
    thrown = error
  })
  thread.on('exit', (exitCode) => {
    const isOutOfMemory = (thrown as { code?: unknown } | undefined)?.code === 'ERR_WORKER_OUT_OF_MEMORY'
    events.onEnded({ exitCode, signal: null, isOutOfMemory, ...(thrown !== undefined && { thrown }) })
  })
  return {
    post: (message) => thread.postMessage(message),
    hold: (isHeld) => (isHeld ? thread.ref() : thread.unref()),
    kill: () => void thread.terminate(),
  }
}
