import { soundErrors } from '../../../queue/model/spoilt.ts'
import type { StoredJob } from '../../../queue/rules/jobs/job.ts'
import { partsIn, textOrNull } from './stored-text.ts'

/** What most jobs do not have while they wait. */
type Extra = Pick<StoredJob, 'result' | 'seal' | 'progress' | 'reason' | 'errors'>

export function extraOf(text: string | null): Extra {
  if (text === null) return { result: null, seal: null, progress: null, reason: null, errors: [] }
  const [result, seal, progress, reason, errors] = partsIn(text)
  return {
    result: textOrNull(result),
    seal: textOrNull(seal),
    progress: textOrNull(progress),
    reason: textOrNull(reason),
    errors: soundErrors(errors),
  }
}

/** Null if there is nothing to store. */
export function extraText({ result, seal, progress, reason, errors }: Extra): string | null {
  const isEmpty = result === null && seal === null && progress === null && reason === null && errors.length === 0
  return isEmpty ? null : JSON.stringify([result, seal, progress, reason, errors])
}
