import fc from 'fast-check'
import { expect, test } from 'vitest'
import { OutputTail } from '../../src/handlers/output-tail.ts'

test('a tail keeps exactly the last bytes, however the stream was cut into pieces', () => {
  const pieces = fc.array(fc.string({ unit: 'grapheme-ascii', maxLength: 12 }), { maxLength: 20 })
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1, max: 30 }), (texts, maxBytes) => {
      const tail = new OutputTail(maxBytes)
      for (const text of texts) tail.append(Buffer.from(text))
      expect(tail.text()).toBe(texts.join('').slice(-maxBytes))
      expect(tail.received).toBe(texts.join('').length)
    }),
    { seed: 1 },
  )
})

test('a tail does not begin in the middle of a character', () => {
  const tail = new OutputTail(5)
  tail.append(Buffer.from('aé€😀b'))
  expect(tail.text()).toBe('😀b')
  tail.append(Buffer.from('c'))
  expect(tail.text()).toBe('bc')
})
