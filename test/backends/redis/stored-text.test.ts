import { expect, test } from 'vitest'
import { openMemory } from '../../../src/engines/memory/index.ts'
import { bodyIn, bodyText } from '../../../src/engines/redis/units/stored-text.ts'
import { Bench } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'

test('the texts of a job are stored as they are, and not as JSON in JSON', () => {
  const clock = new ManualClock()
  const { identity, payload } = new Bench(openMemory({ clock }), clock).envelope({ payload: '{"to":"Ada"}' })
  const text = bodyText({ identity, payload, signature: 'key.signature' })
  expect(text).toBe(`${identity}\n${payload}\nkey.signature`)
  expect(bodyIn(text)).toEqual([identity, payload, 'key.signature'])
})

test.each([
  ['{"a":\n1}', 'signed'],
  ['{}', 'si\ngned'],
  ['{}', ''],
  ['{}', null],
  ['', null],
])('a body with the payload %j and the signature %j is read as it was written', (payload, signature) => {
  for (const identity of ['[1,"id"]', '{"v":1}', '[1,\n"id"]', '']) {
    expect(bodyIn(bodyText({ identity, payload, signature }))).toEqual([identity, payload, signature])
  }
})

test('a body that somebody has spoilt is read as one that no signature fits', () => {
  for (const text of [null, '', 'x', '[', '{"a":1}', 'one\ntwo', '[1,2,3]']) expect(bodyIn(text)).toEqual(['', '', null])
})
