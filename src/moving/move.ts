import { TreadleError } from '../core/errors.ts'
import { unknownOptions } from '../core/options.ts'
import { systemClock } from '../core/time/clock.ts'
import { type Duration, parseDuration } from '../core/time/duration.ts'
import type { MovePlan, MoveProgress, MoveReport } from './move-report.ts'
import { Mover } from './mover.ts'
import { openSide, openSource, type Place } from './sides.ts'
import { targetOf } from './target.ts'

/** Which jobs to move from one queue database to another, and how. */
export interface MoveOptions {
  /**
   * Where the jobs are: a URL, or an open backend, which stays open. Jobs of a broker pass through a coordination store: `{ url,
   * coordination }`.
   */
  readonly from: Place
  readonly to: Place
  /** Only this queue, with all jobs of the workflows that have jobs in it. */
  readonly queue?: string
  /** Producers and workers use both sides during the move. */
  readonly live?: boolean
  /** How long the source must have nothing left to move before a live move ends; 5 seconds by default. */
  readonly idle?: Duration
  /**
   * How long a live move leaves jobs alone after they were sent, because a dispatch whose response was lost is sent again; 15
   * seconds by default.
   */
  readonly settle?: Duration
  /** Ends the move cleanly. The next one continues from there. */
  readonly signal?: AbortSignal
  readonly onProgress?: (progress: MoveProgress) => void
}

const optionNames = ['from', 'to', 'queue', 'live', 'idle', 'settle', 'signal', 'onProgress'] as const

/** Moves a queue to another engine, database or file, with everything it knows about its jobs. */
export function move(options: MoveOptions): Promise<MoveReport> {
  return withMover(options, (mover) => mover.run())
}

/** What a move would find. Changes nothing. */
export function planMove(options: MoveOptions): Promise<MovePlan> {
  return withMover(options, (mover) => mover.plan())
}

async function withMover<Answer>(options: MoveOptions, work: (mover: Mover) => Promise<Answer>): Promise<Answer> {
  const unknown = unknownOptions(options, optionNames)
  if (unknown.length > 0) throw new TreadleError('CONFIG_INVALID', `The options of a move are invalid: ${unknown.join('; ')}`)
  const { queue = null, live = false, idle = '5s', settle = '15s', onProgress = () => {} } = options
  const times = { idleMs: parseDuration(idle, 'idle'), settleMs: parseDuration(settle, 'settle') }
  await using from = await openSource(options.from)
  await using to = await openSide(options.to)
  const target = targetOf(to.backend, to.name)
  const signal = options.signal ?? new AbortController().signal
  return await work(new Mover({ source: from.source, target, queue, live, ...times, clock: systemClock, signal, onProgress }))
}
