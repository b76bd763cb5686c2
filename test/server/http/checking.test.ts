import { describe, expect, test } from 'vitest'
import {
  anything,
  choice,
  duration,
  flag,
  input,
  instant,
  integer,
  type JsonSchema,
  list,
  literal,
  nullable,
  object,
  record,
  text,
  words,
} from '../../../src/client/api/shape.ts'
import { faultsOf } from '../../../src/server/http/wire/checking.ts'

const pet = choice('kind', [input({ kind: literal('cat'), lives: integer() }), input({ kind: literal('dog') }, { name: text() })])

describe('a value that is as it should be has no faults', () => {
  test.each<[JsonSchema, unknown]>([
    [text(), ''],
    [text({ minLength: 1, maxLength: 2, pattern: '^\\p{L}+$' }), 'äß'],
    [instant(), '2026-01-01T00:00:00+02:00'],
    [integer({ minimum: 1, maximum: 3 }), 3],
    [flag(), false],
    [anything(), { any: ['thing'] }],
    [words(['a', 'b']), 'b'],
    [duration(), 0],
    [duration(), '1h30m'],
    [nullable(text()), null],
    [nullable(words(['a'])), null],
    [nullable(duration()), '1s'],
    [list(integer(), { minItems: 1 }), [1, 2]],
    [record(integer()), { a: 1, b: 2 }],
    [object({ a: text() }), { a: 'x', more: 1 }],
    [input({ a: text() }, { b: flag() }), { a: 'x' }],
    [pet, { kind: 'cat', lives: 9 }],
  ])('%j %j', (schema, value) => {
    expect(faultsOf(schema, value)).toEqual([])
  })
})

describe('a value that is not has its faults told, with their places', () => {
  test.each<[JsonSchema, unknown, readonly string[]]>([
    [text(), 1, [' must be a string, got 1']],
    [text({ minLength: 1 }), '', [' must not be empty']],
    [text({ maxLength: 2 }), 'abc', [' must have at most 2 characters, got 3']],
    [
      instant(),
      'tomorrow',
      [" must be a valid Date or an ISO 8601 string with an offset, such as '2026-06-10T09:00:00Z', got 'tomorrow'"],
    ],
    [integer(), 1.5, [' must be a whole number, got 1.5']],
    [integer(), 2 ** 53, [' must be at most 9007199254740991, got 9007199254740992']],
    [integer({ minimum: 1 }), 0, [' must be at least 1, got 0']],
    [flag(), 'true', [' must be true or false, got "true"']],
    [words(['a', 'b']), 'c', [' must be "a" or "b", got "c"']],
    [duration(), -1, [' must be at least 0, got -1']],
    [duration(), 'soon', [' must be a string such as "250ms", "30s" or "1h30m", got "soon"']],
    [text({ pattern: '^a$' }), 'b', [' must match ^a$, got "b"']],
    [nullable(duration()), 'soon', [' must be a string such as "250ms", "30s" or "1h30m", got "soon"']],
    [nullable(duration()), 1e300, [' must be at most 9007199254740991, got 1e+300']],
    [nullable(duration()), 1.5, [' must be a whole number, a string or null, got 1.5']],
    [integer(), -1e300, [' must be at least -9007199254740991, got -1e+300']],
    [duration(), true, [' must be a whole number or a string, got true']],
    [nullable(text()), 1, [' must be a string or null, got 1']],
    [list(integer()), {}, [' must be a list, got an object']],
    [list(integer(), { minItems: 1, maxItems: 2 }), [], [' must have at least 1 entry']],
    [list(integer(), { maxItems: 2 }), [1, 2, 3], [' must have at most 2 entries, got 3']],
    [
      list(list(integer())),
      [[1], ['a', null]],
      ['/1/0 must be a whole number, got "a"', '/1/1 must be a whole number, got null'],
    ],
    [record(integer()), { 'a/b~c': 'x' }, ['/a~1b~0c must be a whole number, got "x"']],
    [input({ a: text(), b: text() }), { b: 1 }, ['/a is missing', '/b must be a string, got 1']],
    [input({ name: text() }), { name: 'x', nmae: 1 }, ['/nmae is not known here, did you mean "name"?']],
    [input({}), null, [' must be an object, got null']],
    [pet, { kind: 'cow' }, ['/kind must be "cat" or "dog", got "cow"']],
    [pet, {}, ['/kind must be "cat" or "dog", got nothing']],
    [pet, { kind: 'cat', name: 'x' }, ['/lives is missing', '/name is not known here (known: kind, lives)']],
    [pet, [], [' must be an object, got a list']],
    [text({ maxLength: 1 }), 'x'.repeat(1_000), [' must have at most 1 characters, got 1000']],
    [integer(), 'x'.repeat(1_000), [` must be a whole number, got "${'x'.repeat(59)}…`]],
  ])('%j %j', (schema, value, faults) => {
    expect(faultsOf(schema, value).map(({ pointer, detail }) => `${pointer} ${detail}`)).toEqual(faults)
  })
})
