import { emptyTally, type RunReport } from '../runs/report.ts'
import type { ChildMessage, ChildOrder } from './messages.ts'

type Fields = Readonly<Record<string, unknown>>

/**
 * Parses a message from a worker process. Undefined for anything else that its handlers send through the same channel. Never
 * throws.
 */
export function parseChildMessage(value: unknown): ChildMessage | undefined {
  if (!isObject(value)) return undefined
  const { kind, owner, jobs, rssBytes, code, message, report } = value
  switch (kind) {
    case 'ready':
      return typeof owner === 'string' ? { kind, owner } : undefined
    case 'usage':
      return isCount(jobs) && isCount(rssBytes) ? { kind, jobs, rssBytes } : undefined
    case 'abandoned':
      return { kind }
    case 'failed':
      return typeof code === 'string' && typeof message === 'string' ? { kind, code, message } : undefined
    case 'report':
      return isReport(report) ? { kind, report } : undefined
    default:
      return undefined
  }
}

export function parseChildOrder(value: unknown): ChildOrder | undefined {
  return value === 'drain' || value === 'abort' ? value : undefined
}

function isReport(value: unknown): value is RunReport {
  return isObject(value) && Object.keys(emptyTally()).every((count) => isCount(value[count]))
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0
}
