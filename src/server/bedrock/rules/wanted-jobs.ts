import { glob } from '../../service/glob.ts'
import type { NameChoice } from '../../service/job-names.ts'
import { isMockKey, mockKey, wireNameOf } from './mock-jobs.ts'

/** Which jobs a client means: one pattern, or a list of names in which nothing is a pattern. */
export function wantedJobs(text: string, withMocks: boolean): NameChoice & { readonly pattern: string } {
  const items = text
    .split(',')
    .map((item) => item.replace(/^ +/, ''))
    .filter((item) => item !== '')
  // No two choices have the same text, whoever makes them.
  const pattern = `wire ${withMocks ? 'with mocks' : 'without'} ${text}`
  if (items.length === 1 && wildcard.test(text)) {
    const matches = glob(text)
    return { pattern, names: null, test: (job) => (withMocks || !isMockKey(job)) && matches(wireNameOf(job)) }
  }
  const names = items.length > 1 ? items : [text]
  const keys = [...new Set(withMocks ? names.flatMap((name) => [name, mockKey(name)]) : names)]
  return { pattern, names: keys, test: (job) => keys.includes(job) }
}

const wildcard = /[*?[]/
