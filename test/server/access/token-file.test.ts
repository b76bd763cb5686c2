import { describe, expect, test } from 'vitest'
import { parseTokenFile } from '../../../src/server/access/token-file.ts'

describe('a file of tokens', () => {
  test('has one a line, with what it is limited to', () => {
    const text =
      '# who may what\n\nread just-looking\r\n  work  a-worker-of-mail queues=mail,night jobs=mail/*,report\nadmin everything-1\n'
    expect(parseTokenFile(text, 'tokens')).toEqual([
      { role: 'read', secret: 'just-looking' },
      { role: 'work', secret: 'a-worker-of-mail', queues: ['mail', 'night'], jobs: ['mail/*', 'report'] },
      { role: 'admin', secret: 'everything-1' },
    ])
  })

  test.each([
    ['', 'it has no tokens'],
    ['owner a-secret-text', 'line 1 must begin with a role, one of read, work, operate, admin'],
    ['read', 'line 1 must be a string of at least 8 characters'],
    ['read short', 'line 1 must be a string of at least 8 characters'],
    ['\nwork a-secret-text mail', 'line 2 may only contain queues=… and jobs=… after its secret'],
    ['work a-secret-text queues=', 'line 1 has queues that are not a list of names'],
    ['work a-secret-text jobs=a jobs=b', 'line 1 says jobs= twice'],
  ])('%j is refused without telling a secret', (text, problem) => {
    expect(() => parseTokenFile(text, 'tokens')).toThrow(problem)
    expect(() => parseTokenFile(text, 'tokens')).not.toThrow('a-secret-text')
  })
})
