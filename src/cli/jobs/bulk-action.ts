import type { Command } from 'commander'
import type { JobState } from '../../queue/contract/job-state.ts'
import type { JobCount, JobRecord, JobStore } from '../../queue/contract/store.ts'
import { type JobSearch, mostExamined } from '../../server/jobs/job-search.ts'
import { exitCodes } from '../exit-codes.ts'
import { UsageError } from '../failure.ts'
import type { Output } from '../output/output.ts'
import { plural, visibleLine } from '../output/text.ts'
import { canAsk, confirm } from '../prompt.ts'
import { type StoreSession, withStore } from '../session.ts'
import { key, queue, state, tag } from '../values.ts'
import { wholeId } from './job-ids.ts'
import { type ChosenJobs, isSearch, searchOf, whereHelp } from './search.ts'

/** What a command does with jobs, given by id or selected by a filter. */
export interface BulkAction<Outcome extends string> {
  /** For questions: "Cancel 12 jobs?" */
  readonly verb: string
  /** For reports: "cancelled 12 jobs". */
  readonly past: string
  /** The states of the jobs that `--all` selects. */
  readonly states: readonly JobState[]
  readonly wording: Readonly<Record<Outcome, string>>
  /** The outcomes that count as success. */
  readonly done: readonly Outcome[]
  act(ids: readonly string[], session: StoreSession): Promise<readonly Outcome[]>
}

export interface BulkOptions extends ChosenJobs {
  readonly all?: boolean
  readonly dryRun?: boolean
  readonly yes?: boolean
}

/** Every command that acts on jobs takes either their ids or `--all` with a filter. */
export function bulkOptions(command: Command): Command {
  return command
    .argument('[id...]', 'job ids; a unique prefix is enough')
    .option('--all', 'all jobs that match --job, --queue, --group, --tag, --where and --state')
    .option('--job <job>', "with --all: only jobs with this name, or that match a pattern such as 'mail-*'")
    .option('--queue <queue>', 'with --all: only jobs in this queue', queue)
    .option('--group <group>', 'with --all: only jobs of this group', key)
    .option('--tag <tag>', 'with --all: only jobs with this tag', tag)
    .option('--where <filter>', `with --all: ${whereHelp}`)
    .option('--state <state>', 'with --all: only jobs in this state', state)
    .option('--dry-run', 'with --all: print how many jobs match, without changing anything')
    .option('--yes', 'with --all: skip the confirmation; required without a terminal')
}

export async function runBulkAction<Outcome extends string>(
  command: Command,
  ids: readonly string[],
  options: BulkOptions,
  action: BulkAction<Outcome>,
): Promise<void> {
  refuseMixed(ids, options, action)
  await withStore(command, (session) => (options.all ? actOnAll(session, options, action) : actOnIds(session, ids, action)))
}

function refuseMixed(ids: readonly string[], options: BulkOptions, { states, verb }: BulkAction<string>): void {
  if (ids.length > 0 === Boolean(options.all)) throw new UsageError('give either the ids of jobs or --all')
  const filters = (['job', 'queue', 'group', 'tag', 'where', 'state', 'dryRun', 'yes'] as const).filter(
    (name) => options[name] !== undefined,
  )
  if (!options.all && filters.length > 0)
    throw new UsageError('--job, --queue, --group, --tag, --where, --state, --dry-run and --yes go with --all')
  if (options.state !== undefined && !states.includes(options.state)) {
    throw new UsageError(`"${verb.toLowerCase()}" is for jobs that are ${states.join(', ')}, not ${options.state}`)
  }
  if (options.all && !options.dryRun && !options.yes && !canAsk()) {
    throw new UsageError('this changes all matching jobs: add --yes to skip the confirmation, or --dry-run to count them')
  }
}

async function actOnIds<Outcome extends string>(
  session: StoreSession,
  given: readonly string[],
  { act, wording, done }: BulkAction<Outcome>,
): Promise<number> {
  const ids = await Promise.all(given.map((id) => wholeId(session.store, id)))
  const outcomes = await act(ids, session)
  const results = ids.map((id, place) => ({ id, outcome: outcomes[place] as Outcome }))
  session.out.answer(results, () => results.map(({ id, outcome }) => `${visibleLine(id)}  ${wording[outcome]}`).join('\n'))
  if (results.some(({ outcome }) => outcome === 'missing')) return exitCodes.notFound
  return results.every(({ outcome }) => done.includes(outcome)) ? exitCodes.ok : exitCodes.failed
}

async function actOnAll<Outcome extends string>(
  session: StoreSession,
  options: BulkOptions,
  action: BulkAction<Outcome>,
): Promise<number> {
  const { store, out, now } = session
  const states = options.state === undefined ? action.states : [options.state]
  const meant = new MeantJobs(store, searchOf(options, now))
  const count = await countOf(store, options, states, meant)
  if (options.dryRun) {
    out.answer({ matching: count }, () => `${plural(count, 'job')} would be ${action.past}`)
    meant.print(out)
    return exitCodes.ok
  }
  if (!options.yes && count > 0 && !(await confirm(`${action.verb} ${plural(count, 'job')}${whichText(options)}?`))) {
    out.note('nothing was changed')
    return exitCodes.failed
  }
  const tally = await actOnPages(session, meant, states, { action, count })
  const done = action.done.reduce((sum, outcome) => sum + (tally.get(outcome) ?? 0), 0)
  const rest = [...tally].filter(([outcome]) => !action.done.includes(outcome))
  const left = rest.map(([outcome, jobs]) => `; ${plural(jobs, 'job')} ${action.wording[outcome]}`).join('')
  out.answer({ [action.past]: done, left: Object.fromEntries(rest) }, () => `${action.past} ${plural(done, 'job')}${left}`)
  meant.print(out)
  return rest.length === 0 ? exitCodes.ok : exitCodes.failed
}

/** Answered from the maintained counters, except for groups, tags and searches, whose jobs are counted page by page. */
async function countOf(store: JobStore, options: BulkOptions, states: readonly JobState[], meant: MeantJobs): Promise<number> {
  if ((options.group ?? options.tag) === undefined && !isSearch(options)) {
    const isMeant = ({ job, queue }: JobCount) =>
      (options.job === undefined || job === options.job) && (options.queue === undefined || queue === options.queue)
    const { job, queue } = options
    const counts = (await store.counts({ ...(job !== undefined && { job }), ...(queue !== undefined && { queue }) })).filter(
      isMeant,
    )
    return counts.reduce((sum, { counts }) => sum + states.reduce((part, state) => part + counts[state], 0), 0)
  }
  let count = 0
  for (const state of states) for await (const page of meant.pages(state)) count += page.length
  return count
}

async function actOnPages<Outcome extends string>(
  session: StoreSession,
  meant: MeantJobs,
  states: readonly JobState[],
  { action, count }: { readonly action: BulkAction<Outcome>; readonly count: number },
): Promise<ReadonlyMap<Outcome, number>> {
  const tally = new Map<Outcome, number>()
  let seen = 0
  for (const state of states) {
    for await (const page of meant.pages(state)) {
      const outcomes = await action.act(
        page.map(({ id }) => id),
        session,
      )
      for (const outcome of outcomes) tally.set(outcome, (tally.get(outcome) ?? 0) + 1)
      seen += page.length
      showProgress(session.out, seen, count)
    }
  }
  return tally
}

const pageSize = 500

/** The selected jobs, page by page. A search reads only the newest jobs of each state, and says so if there are more. */
class MeantJobs {
  readonly #store: JobStore
  readonly #search: JobSearch
  #isCut = false

  constructor(store: JobStore, search: JobSearch) {
    this.#store = store
    this.#search = search
  }

  /** Reads the next page before yielding the current one, because the action may remove its jobs from the list. */
  async *pages(state: JobState): AsyncGenerator<readonly JobRecord[]> {
    const { stored, matches, oldest, isSearch } = this.#search
    const filter = { ...stored, state }
    let examined = 0
    let page = await this.#store.list({ ...filter, limit: pageSize })
    while (page.length > 0) {
      examined += page.length
      const last = page.at(-1) as JobRecord
      const isOver = page.length < pageSize || (oldest !== null && last.createdAt < oldest)
      const isCut = !isOver && isSearch && examined >= mostExamined
      this.#isCut ||= isCut
      const next = isOver || isCut ? [] : await this.#store.list({ ...filter, before: last.id, limit: pageSize })
      const meant = isSearch ? page.filter(matches) : page
      if (meant.length > 0) yield meant
      page = next
    }
  }

  print(out: Output): void {
    if (this.#isCut) out.note(`searched the newest ${mostExamined.toLocaleString('en')} jobs of each state; there are older ones`)
  }
}

const barWidth = 30

function showProgress(out: Output, seen: number, count: number): void {
  const share = Math.min(1, seen / Math.max(count, seen, 1))
  const filled = Math.round(share * barWidth)
  out.progress(`${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${seen} of ${Math.max(count, seen)}`)
}

function whichText({ job, queue, group, tag, where, state }: BulkOptions): string {
  const parts = [
    job && `named "${job}"`,
    queue && `of queue "${queue}"`,
    group && `of group "${group}"`,
    tag && `with the tag "${tag}"`,
    where && `that fit ${where}`,
    state && `that are ${state}`,
  ].filter((part) => part)
  return parts.length === 0 ? '' : ` ${parts.join(' ')}`
}
