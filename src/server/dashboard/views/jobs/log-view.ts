import { readWholeLog } from '../../../../app/handles/job-log.ts'
import { masked } from '../../../../core/text/masking.ts'
import type { ViewDeps } from '../../deps.ts'
import type { LogView } from '../../shared/views/job.ts'

const mostLines = 200

/** The end of a job's log, as far as it may be seen: fields are redacted like payloads. */
export async function logView({ store, redaction }: ViewDeps, id: string): Promise<LogView> {
  if (redaction.hidesPayloads) return { lines: [], total: 0, isHidden: true }
  const { lines, last } = await readWholeLog(store.logs, id, null)
  const shown = lines.slice(-mostLines).map(({ fields, message, ...line }) => {
    const text = fields === undefined ? null : JSON.stringify(fields)
    return { ...line, message: masked(message), fields: text === null ? null : redaction.text(text) }
  })
  return { lines: shown, total: last, isHidden: false }
}
