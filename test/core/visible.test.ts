import { expect, test, vi } from 'vitest'
import { Output } from '../../src/cli/output/output.ts'
import { consoleLogger } from '../../src/core/logger.ts'
import { visible, visibleJson } from '../../src/core/text/visible.ts'

const unseen = [
  ...['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2066', '\u2067', '\u2068', '\u2069', '\u200e', '\u200f', '\u061c'],
  ...['\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u180e', '\u2028', '\u2029', '\u{e0041}', '\u3164'],
]
const controls = ['\u0000', '\u0007', '\u001b', '\r', '\u007f', '\u0085', '\u009b', '\u009d']

test.each(unseen)('a character that is not seen is shown by its number: %j', (character) => {
  expect(visible(`a${character}b`)).toMatch(/^a(\\u[0-9a-f]{4})+b$/)
})

test.each(controls)('a control character is shown: %j', (character) => {
  expect(visible(`a${character}b`)).toMatch(/^a[\u2400-\u2421\ufffd]b$/)
})

test('line breaks, tabs, letters and emoji stay', () => {
  expect(visible('é\n\tñ 日本 👍 שלום')).toBe('é\n\tñ 日本 👍 שלום')
})

test('an emoji of several parts stays one', () => {
  expect(visible('👩‍👩‍👧‍👦 👩🏽‍🚀 ❤️‍🔥')).toBe('👩‍👩‍👧‍👦 👩🏽‍🚀 ❤️‍🔥')
  expect(visible('👩\u200da \u200d👩 👩\u200d')).toBe('👩\\u200da \\u200d👩 👩\\u200d')
})

test.each([...unseen, ...controls])('JSON says the same with an escape: %j', (character) => {
  const value = { [character]: `a${character}b` }
  const text = visibleJson(JSON.stringify(value))
  expect(text).not.toContain(character)
  expect(JSON.parse(text)).toEqual(value)
})

test.each([true, false])('nothing unseen reaches a terminal, as JSON: %s', (json) => {
  let written = ''
  const write = (text: string) => {
    written += text
  }
  const stream = { write, isTTY: true }
  const out = new Output({ json, colour: true, stdout: stream, stderr: stream })
  out.answer({ name: unseen.join('') }, () => unseen.join(''))
  out.note(unseen.join(''))
  out.progress(unseen.join(''))
  for (const character of unseen) expect(written).not.toContain(character)
})

test('the logger of a program without one shows them too', () => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  consoleLogger.warn('gpj.\u202eexe\u001b[2J')
  expect(warn).toHaveBeenCalledExactlyOnceWith('treadle: gpj.\\u202eexe␛[2J')
})
