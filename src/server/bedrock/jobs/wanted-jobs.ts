import type { NameChoice } from '../../jobs/job-names.ts'
import { mockKey, mockMark } from './mock-jobs.ts'

/** Which jobs a client asks for: one pattern, or a list of literal names. */
export function wantedJobs(text: string, withMocks: boolean): NameChoice & { readonly pattern: string } {
  const items = text
    .split(',')
    .map((item) => item.replace(/^ +/, ''))
    .filter((item) => item !== '')
  // Must differ for any two different choices, no matter which protocol they come from.
  const pattern = `wire ${withMocks ? 'with mocks' : 'without'} ${text}`
  const marked = withMocks ? 'matched' : 'left out'
  if (items.length === 1 && wildcard.test(text)) {
    return { pattern, names: null, keys: [{ names: [], globs: [text], mark: mockMark, marked }] }
  }
  const names = items.length > 1 ? items : [text]
  const keys = [...new Set(withMocks ? names.flatMap((name) => [name, mockKey(name)]) : names)]
  return { pattern, names: keys, keys: [{ names: keys, globs: [], mark: mockMark, marked }] }
}

const wildcard = /[*?[]/
