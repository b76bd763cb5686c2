import { type ErrorCode, messageOf, TreadleError } from '../../../core/errors.ts'
import { hostName } from '../../../core/process/environment.ts'
import { stopwatch } from '../../../core/time/clock.ts'
import type { BedrockAnswer, BedrockPeer } from '../connections/peer.ts'
import type { WireQueue } from '../jobs/wire-queue.ts'
import { query } from '../query/query.ts'
import { has } from '../wire/parameters.ts'
import { Refusal } from '../wire/refusal.ts'
import type { BedrockReply } from '../wire/reply.ts'
import type { BedrockRequest } from '../wire/request.ts'
import { cancelJob, deleteJob, queryJob, requeueJobs, updateJob } from './change-job.ts'
import { type Command, inTurn } from './command.ts'
import { clearCrashedBedrockJobs, crashBedrockJob } from './crash-list.ts'
import { createJob, createJobs } from './create-job.ts'
import { failJob, finishJob, retryJob } from './end-job.ts'
import { getJob, getJobs } from './get-job.ts'
import { permitted } from './permission.ts'
import { health, ping, status } from './server-status.ts'

/** All commands that clients may send. */
export const commands: ReadonlyMap<string, Command> = new Map([
  ['createjob', createJob],
  ['createjobs', createJobs],
  ['getjob', getJob],
  ['getjobs', getJobs],
  ['queryjob', queryJob],
  ['updatejob', inTurn(updateJob)],
  ['finishjob', finishJob],
  ['retryjob', inTurn(retryJob)],
  ['failjob', inTurn(failJob)],
  ['canceljob', inTurn(cancelJob)],
  ['deletejob', inTurn(deleteJob)],
  ['requeuejobs', requeueJobs],
  ['crashbedrockjob', crashBedrockJob],
  ['clearcrashedbedrockjobs', clearCrashedBedrockJobs],
  ['query', query],
  ['query:', query],
  ['ping', ping],
  ['status', status],
  ['get', health],
])

/** Commands whose line contains nothing else: what a program sends as `Status / HTTP/1.1` is not one of them. */
const wholeLines = new Set(['crashbedrockjob', 'clearcrashedbedrockjobs', 'ping', 'status'])

/** Temporary failures: clients know the reply to these as one after which they may retry. */
const passing: ReadonlySet<ErrorCode> = new Set(['BACKEND_CLOSED', 'DATABASE_BUSY', 'DATABASE_UNREACHABLE', 'KEY_CONTENDED'])

/** Read-only commands: they do not count as a commit, and queries report `peekTime` instead of `processTime`. */
const looks = new Set(['queryjob', 'query', 'query:', 'ping', 'status', 'get'])

/** Executes any command that a client sends. */
export function answerOn(jobs: WireQueue): BedrockAnswer {
  const nodeName = hostName()
  return async (request, peer) => {
    const elapsedMs = stopwatch()
    const reply = await carriedOut(request, peer, jobs)
    if (reply.http === true || isBrief(request)) return reply
    return { ...reply, headers: { ...reply.headers, ...headersOf(request, elapsedMs(), jobs), nodeName } }
  }
}

async function carriedOut(request: BedrockRequest, peer: BedrockPeer, jobs: WireQueue): Promise<BedrockReply> {
  const command = commands.get(request.verb)
  if (command === undefined || (wholeLines.has(request.verb) && request.method.toLowerCase() !== request.verb))
    return { code: 430, text: 'Unrecognized command' }
  try {
    const asked = await permitted(request, peer.grant, jobs)
    const reply = await command(asked, { jobs, peer, isBrief: isBrief(request) })
    if (!looks.has(request.verb)) jobs.commits.add()
    return reply
  } catch (thrown) {
    if (thrown instanceof Refusal) return { code: thrown.code, text: thrown.message }
    if (!(thrown instanceof TreadleError)) throw thrown
    jobs.deps.queue.settings.logger.error(`${request.verb} failed: ${messageOf(thrown)}`)
    if (passing.has(thrown.code)) return { code: 500, text: 'Unhandled Exception' }
    // Messages from the database name tables and files, so they go to the log only.
    return { code: 502, text: thrown.code === 'DATABASE_FAILED' ? 'Database failed' : thrown.message }
  }
}

/**
 * A request that a person types gets the short reply that the documentation shows. Libraries always send the length of their
 * request or its write consistency, and can handle longer replies. The header `verbose` overrides this.
 */
function isBrief(request: BedrockRequest): boolean {
  const verbose = request.headers.get('verbose')
  if (verbose !== undefined) return verbose !== 'true'
  return !has(request, 'writeConsistency') && !has(request, 'Content-Length')
}

function headersOf({ verb }: BedrockRequest, ms: number, jobs: WireQueue): Readonly<Record<string, string>> {
  const micros = String(Math.max(1, Math.round(ms * 1_000)))
  if (verb === 'ping' || verb === 'status') return { totalTime: micros }
  const written = looks.has(verb) ? { peekTime: micros } : { processTime: micros }
  return { ...written, totalTime: micros, commitCount: String(jobs.commits.count) }
}
