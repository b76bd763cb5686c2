import type { JobRecord } from '../../../../queue/contract/store.ts'
import type { ExportFormat } from '../../shared/export-formats.ts'
import { rowOf } from './job-row.ts'
import type { Redaction } from './redaction.ts'

/** The columns of an export, in their order. */
const columns = [
  'id',
  'job',
  'queue',
  'state',
  'reason',
  'priority',
  'attempts',
  'maxRetries',
  'group',
  'tags',
  'schedule',
  'root',
  'createdAt',
  'runAt',
  'startedAt',
  'finishedAt',
  'worker',
  'lastError',
  'payload',
  'result',
] as const

/** The values of one job, each as JSON text. */
export type ExportedJob = Readonly<Record<(typeof columns)[number], string>>

/** A job as an export shows it: instants in ISO form, and texts with their secrets redacted. */
export function exportedOf(record: JobRecord, redaction: Redaction): ExportedJob {
  const row = rowOf(record, redaction)
  const { id, job, queue, state, reason, priority, attempts, maxRetries, group, tags, schedule, root, owner, lastError } = row
  const { createdAt, runAt, startedAt, finishedAt } = row
  const values = { id, job, queue, state, reason, priority, attempts, maxRetries, group, tags, schedule, root, worker: owner }
  const instants = { createdAt, runAt, startedAt, finishedAt }
  return {
    ...mapped(values, (value) => JSON.stringify(value)),
    ...mapped(instants, (at) => (at === null ? 'null' : JSON.stringify(new Date(at).toISOString()))),
    lastError: JSON.stringify(lastError),
    payload: shownJson(record.payload, redaction),
    result: shownJson(record.result, redaction),
  }
}

/** The JSON as stored, without what is hidden; null if it is encrypted or not JSON. */
function shownJson(text: string | null, redaction: Redaction): string {
  const isShown = text !== null && redaction.searchable(text) !== null
  return (isShown ? redaction.text(text) : null) ?? 'null'
}

function mapped<Name extends string, Value>(
  values: Readonly<Record<Name, Value>>,
  text: (value: Value) => string,
): Record<Name, string> {
  const entries = Object.entries<Value>(values).map(([name, value]) => [name, text(value)])
  return Object.fromEntries(entries) as Record<Name, string>
}

export function headingOf(format: ExportFormat): string {
  return format === 'csv' ? `${columns.join(',')}\r\n` : ''
}

export function lineOf(job: ExportedJob, format: ExportFormat): string {
  return format === 'csv'
    ? `${columns.map((column) => cellOf(job[column])).join(',')}\r\n`
    : `{${columns.map((column) => `"${column}":${job[column]}`).join(',')}}\n`
}

/** Text as it is, nothing for null, and JSON for everything else. */
function cellOf(json: string): string {
  const value: unknown = json.startsWith('"') ? JSON.parse(json) : null
  const text = typeof value === 'string' ? value : json === 'null' ? '' : json
  const safe = isFormula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) || safe !== safe.trim() ? `"${safe.replaceAll('"', '""')}"` : safe
}

/** Spreadsheets run texts that begin like this. Numbers are harmless. */
const isFormula = /^(?:[=@\t\r]|[+-](?![\d.]+$))/
