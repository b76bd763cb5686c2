import type { LogStore } from '../../queue/contract/stores/log-store.ts'
import type { LogSpec, Performers } from './program.ts'
import { idOf, type Stage } from './stage.ts'

type Names = 'log' | 'logs' | 'sweepLogs'

const manyLines = 1_000
const manyBytes = 100_000

/** Logs of jobs. A backend without logs answers like one whose logs are empty. */
export const logOperations: Performers<Names, Stage> = {
  log: async (stage, { chunks = [], mostLines = manyLines, mostBytes = manyBytes }) =>
    logsOf(stage)?.append(chunks.map(chunkOf), { lines: mostLines, bytes: mostBytes }),
  logs: async (stage, { id, after = 0, limit = 100 }) => logsOf(stage)?.read(idOf(id), after, limit),
  sweepLogs: async (stage, { limit = 100 }) => void (await stage.backend.store.sweep({ part: 'logs', limit })),
}

function logsOf({ backend }: Stage): LogStore | undefined {
  return backend.store.logs
}

function chunkOf({ id, attempt = 1, lines = 1, dropped = 0, bytes = 10 }: LogSpec) {
  return { id: idOf(id), attempt, lines, dropped, text: 'é'.repeat(Math.ceil(bytes / 2)) }
}
