import { expect, expectTypeOf, test } from 'vitest'
import type { DispatchArguments } from '../../src/definition/dispatching/dispatch.ts'
import { handlerFunction } from '../../src/definition/handler.ts'
import { closure } from '../../src/handlers/index.ts'
import { contextFor } from './context.ts'

test('D2: a closure job gets the context alone', async () => {
  const context = contextFor(null)
  const handler = handlerFunction(
    'sweep',
    closure(async (...received) => ({ received: received.length, attempt: received[0].attempt })),
  )
  expect(await handler(null, context)).toEqual({ received: 1, attempt: 1 })
})

test('a closure job is dispatched without a payload', () => {
  type Payload = Parameters<ReturnType<typeof closure<void>>>[0]
  expectTypeOf<[]>().toExtend<DispatchArguments<Payload>>()
})

test('making a closure job refuses what is no function', () => {
  expect(() => closure('sweep' as never)).toThrow(expect.objectContaining({ code: 'HANDLER_INVALID' }))
})
