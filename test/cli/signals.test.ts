import { afterEach, describe, expect, it, vi } from 'vitest'

const names = ['SIGTERM', 'SIGHUP'] as const

describe('an output that nobody reads any more', () => {
  const before = new Map<string, readonly unknown[]>(names.map((name) => [name, process.listeners(name)]))
  const errorListeners = [process.stdout, process.stderr].map((stream) => stream.listeners('error'))

  afterEach(() => {
    vi.resetModules()
    for (const name of names) {
      for (const listener of process.listeners(name)) if (!before.get(name)?.includes(listener)) process.off(name, listener)
    }
    for (const [index, stream] of [process.stdout, process.stderr].entries()) {
      for (const listener of stream.listeners('error')) {
        if (!errorListeners[index]?.includes(listener)) stream.off('error', listener as () => void)
      }
    }
  })

  it.each(['before', 'after'])('ends a command, also where it was closed %s the command listens', async (when) => {
    const { stopRequest, tolerateClosedPipes } = await import('../../src/cli/working/signals.ts')
    const close = () => process.stdout.emit('error', Object.assign(new Error('closed'), { code: 'EPIPE' }))
    tolerateClosedPipes(() => {})
    if (when === 'before') close()
    const { signal } = stopRequest(
      () => {},
      () => {},
    )
    if (when === 'after') close()
    expect(signal.aborted).toBe(true)
  })
})
