import { EventEmitter } from 'node:events'
import { describe, expect, test } from 'vitest'
import { type EventOptions, type EventPayload, event } from '../../src/handlers/index.ts'
import { contextFor, permanentCode, thrownBy } from './context.ts'

describe('D2: an event job', () => {
  test('emits the event that its payload names, with its data', () => {
    const emitter = new EventEmitter()
    const heard: unknown[] = []
    emitter.on('order.paid', (data) => heard.push(data))
    expect(run(emitter, { allow: ['order.paid'] }, { event: 'order.paid', data: { id: 7 } })).toEqual({ heard: true })
    expect(heard).toEqual([{ id: 7 }])
  })

  test('says when nobody listens', () => {
    expect(run(new EventEmitter(), { allow: ['order.paid'] }, { event: 'order.paid' })).toEqual({ heard: false })
  })

  test('fails when a listener throws', () => {
    const emitter = new EventEmitter().on('order.paid', () => {
      throw new Error('out of stock')
    })
    expect(() => run(emitter, { allow: ['order.paid'] }, { event: 'order.paid' })).toThrow('out of stock')
  })

  test.each([
    ['there is no list', undefined],
    ['the list is empty', { allow: [] }],
    ['another event is allowed', { allow: ['order'] }],
  ])('A24: is denied, and not tried again, when %s', async (_case, options) => {
    const emitter = new EventEmitter()
    const heard: unknown[] = []
    emitter.on('order.paid', (data) => heard.push(data))
    const thrown = await thrownBy(() => run(emitter, options, { event: 'order.paid' }))
    expect(permanentCode(thrown)).toBe('HANDLER_DENIED')
    expect(heard).toEqual([])
  })

  test.each([null, 'order.paid', {}, { event: 7 }])('is not tried again with the payload %j', async (payload) => {
    const thrown = await thrownBy(() => run(new EventEmitter(), { allow: ['order.paid'] }, payload as never))
    expect(permanentCode(thrown)).toBe('PAYLOAD_INVALID')
  })
})

test('making an event job refuses what is no emitter, no list and no option', () => {
  expect(() => event({} as never)).toThrow(expect.objectContaining({ code: 'HANDLER_INVALID' }))
  expect(() => event(new EventEmitter(), { allow: 'all' } as never)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
  expect(() => event(new EventEmitter(), { alow: ['a'] } as never)).toThrow('did you mean "allow"?')
})

function run(emitter: EventEmitter, options: EventOptions | undefined, payload: EventPayload) {
  return event(emitter, options)(payload, contextFor(payload))
}
