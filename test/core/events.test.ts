import { describe, expect, it } from 'vitest'
import { Events } from '../../src/core/events.ts'

interface Sounds {
  rang: { readonly times: number }
  fell: string
}

describe('events', () => {
  it('reach all listeners of their name, in the order in which these began to listen', () => {
    const { events } = newEvents()
    const heard: string[] = []
    events.on('rang', ({ times }) => heard.push(`a${times}`))
    events.on('rang', ({ times }) => heard.push(`b${times}`))
    events.on('fell', (what) => heard.push(what))
    events.emit('rang', { times: 2 })
    expect(heard).toEqual(['a2', 'b2'])
  })

  it('stop reaching who no longer listens', () => {
    const { events } = newEvents()
    let heard = 0
    const stop = events.on('rang', () => heard++)
    events.emit('rang', { times: 1 })
    stop()
    stop()
    events.emit('rang', { times: 1 })
    expect(heard).toBe(1)
  })

  it('know whether anybody listens', () => {
    const { events } = newEvents()
    expect(events.has('rang')).toBe(false)
    const stop = events.on('rang', () => {})
    expect(events.has('rang')).toBe(true)
    expect(events.has('fell')).toBe(false)
    stop()
    expect(events.has('rang')).toBe(false)
  })

  it('reach a function once for each time that it listens, and each stops on its own', () => {
    const { events } = newEvents()
    let heard = 0
    const listener = () => heard++
    const stop = events.on('rang', listener)
    events.on('rang', listener)
    events.emit('rang', { times: 1 })
    expect(heard).toBe(2)
    stop()
    events.emit('rang', { times: 1 })
    expect(heard).toBe(3)
  })

  it('report a listener that throws, and reach the next one', () => {
    const { events, reported } = newEvents()
    let heard = 0
    events.on('fell', () => {
      throw new Error('deaf')
    })
    events.on('fell', () => heard++)
    events.emit('fell', 'vase')
    expect(heard).toBe(1)
    expect(reported).toEqual(['a listener of "fell" threw: deaf'])
  })

  it('report a listener that rejects, which would otherwise end the process', async () => {
    const { events, reported } = newEvents()
    events.on('fell', async () => {
      throw new Error('deaf later')
    })
    events.emit('fell', 'vase')
    await new Promise((resolve) => setImmediate(resolve))
    expect(reported).toEqual(['a listener of "fell" threw: deaf later'])
  })

  it('let a listener stop itself while it is called', () => {
    const { events } = newEvents()
    const heard: string[] = []
    const stop = events.on('fell', () => {
      heard.push('once')
      stop()
    })
    events.on('fell', () => heard.push('always'))
    events.emit('fell', 'vase')
    events.emit('fell', 'vase')
    expect(heard).toEqual(['once', 'always', 'always'])
  })
})

function newEvents() {
  const reported: string[] = []
  return { events: new Events<Sounds>((message) => reported.push(message)), reported }
}
