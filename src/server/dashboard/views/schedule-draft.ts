import { messageOf } from '../../../core/errors.ts'
import { parseInstant } from '../../../core/time/instant.ts'
import { jobNameProblem } from '../../../definition/names.ts'
import { parseRecurrence, type RecurrenceKind, type RecurrenceOptions, scheduleOf } from '../../../definition/recurrence.ts'
import { parseZone } from '../../../scheduling/calendar/zone.ts'
import { HttpProblem } from '../../http/wire/http-problem.ts'
import type { Viewer } from '../access/viewer.ts'
import type { ViewDeps } from '../deps.ts'
import type { ApiCaller } from '../exchange/api-caller.ts'
import { type JsonNode, readJson } from '../shared/json-tree.ts'
import type { DraftField, DraftView, ScheduleDraft } from '../shared/views/schedule.ts'

const shownNext = 5

/** What the schedule being edited would do, and what is wrong with each field. Changes nothing. */
export async function draftView(deps: ViewDeps, body: unknown): Promise<DraftView> {
  const draft = draftOf(body)
  const { service } = deps
  const problems = new Map<DraftField, string>()
  const check = async (field: DraftField, test: () => unknown) => {
    try {
      const problem = await test()
      if (typeof problem === 'string') problems.set(field, problem)
    } catch (thrown) {
      problems.set(field, messageOf(thrown))
    }
  }
  await check('key', () => jobNameProblem(draft.key, "a schedule's key"))
  await check('job', () => jobNameProblem(draft.job, 'a job'))
  await check('timezone', () => draft.kind === 'cron' && draft.timezone !== '' && void parseZone(draft.timezone))
  await check('until', () => draft.until !== '' && void parseInstant(draft.until, 'until'))
  await check('payload', async () => {
    const problem = payloadProblem(draft.payload)
    if (problem !== null) return problem
    if (!problems.has('job')) await service.creating.checkPayload(draft.job, draft.payload)
    return null
  })
  let view: DraftView = { words: null, next: [], warnings: [], problems: [] }
  await check('said', () => {
    if (draft.said.trim() === '') return 'Say when it is to run'
    view = explained(soundOptions(draft, problems), deps)
    return null
  })
  const isKnown = service.queue.registry.find(draft.job) !== undefined
  const unknown =
    isKnown || problems.has('job') ? [] : [`No job "${draft.job}" is defined in this server: a worker that has it must run`]
  return {
    ...view,
    warnings: [...view.warnings, ...unknown],
    problems: [...problems].map(([field, detail]) => ({ field, detail })),
  }
}

/** Stores the schedule, by the rules and permissions of the HTTP API. */
export async function saveDraft(deps: ViewDeps, { grant }: Viewer, body: unknown, api: ApiCaller): Promise<unknown> {
  const draft = draftOf(body)
  const { problems } = await draftView(deps, body)
  const [problem] = problems
  if (problem !== undefined) throw new HttpProblem('invalid-request', `${problem.field}: ${problem.detail}`)
  const { misfire, overlap } = draft
  const said = JSON.stringify({
    job: draft.job,
    ...recurrenceOf(draft),
    ...(misfire !== '' && { misfire }),
    ...(overlap !== '' && { overlap }),
  })
  const text = `${said.slice(0, -1)},"payload":${draft.payload}}`
  return (await api.callWith('PUT', `/schedules/${encodeURIComponent(draft.key)}`, grant, text)).body
}

function explained(options: RecurrenceOptions, { service, clock }: ViewDeps): DraftView {
  const recurrence = withoutPlace(() => parseRecurrence('draft', options, service.queue.settings.timezone))
  const schedule = scheduleOf(recurrence)
  const { text: words, warnings, occurrences } = schedule.explain({ from: clock.now(), count: shownNext })
  return { words, warnings, next: occurrences.map(({ at, local, note }) => ({ at, local, note })), problems: [] }
}

/** Removes the placeholder name of the draft from the error. */
function withoutPlace<Value>(parse: () => Value): Value {
  try {
    return parse()
  } catch (thrown) {
    throw new HttpProblem('invalid-request', messageOf(thrown).replace(/^Schedule "draft": /, ''))
  }
}

/** Leaves out the fields for which a problem has already been reported. */
function soundOptions(draft: ScheduleDraft, problems: ReadonlyMap<DraftField, string>): RecurrenceOptions {
  const { timezone, until, ...rest } = recurrenceOf(draft)
  return {
    ...rest,
    ...(timezone !== undefined && !problems.has('timezone') && { timezone }),
    ...(until !== undefined && !problems.has('until') && { until }),
    ...(draft.misfire !== '' && { misfire: draft.misfire }),
    ...(draft.overlap !== '' && { overlap: draft.overlap }),
  }
}

function recurrenceOf({ kind, said, timezone, until }: ScheduleDraft): RecurrenceOptions {
  return {
    [kind]: said.trim(),
    ...(kind === 'cron' && timezone !== '' && { timezone }),
    ...(until !== '' && { until }),
  }
}

const kinds: readonly RecurrenceKind[] = ['cron', 'every', 'repeat']

function draftOf(body: unknown): ScheduleDraft {
  const given = (body ?? {}) as Readonly<Record<string, unknown>>
  const text = (name: DraftField): string => (typeof given[name] === 'string' ? given[name] : '')
  const kind = kinds.find((each) => each === given.kind)
  if (kind === undefined) throw new HttpProblem('invalid-request', 'kind must be cron, every or repeat')
  const misfire = (['skip', 'latest', 'all'] as const).find((each) => each === given.misfire) ?? ''
  const overlap = (['allow', 'skip', 'queue'] as const).find((each) => each === given.overlap) ?? ''
  const fields = { key: text('key').trim(), job: text('job').trim(), said: text('said'), timezone: text('timezone').trim() }
  return { ...fields, kind, misfire, overlap, until: text('until'), payload: text('payload').trim() || 'null' }
}

/** The payload of a schedule is stored as a value, so its numbers must be representable. */
function payloadProblem(text: string): string | null {
  const tree = readJson(text)
  if (tree === null) return 'It cannot be read as JSON'
  const long = longNumberIn(tree)
  return long === null ? null : `${long} has more digits than the payload of a schedule keeps: write it as a text`
}

function longNumberIn(node: JsonNode): string | null {
  switch (node.kind) {
    case 'literal':
      return /^-?\d+$/.test(node.text) && !Number.isSafeInteger(Number(node.text)) ? node.text : null
    case 'array':
      return node.items.reduce<string | null>((found, item) => found ?? longNumberIn(item), null)
    case 'object':
      return node.members.reduce<string | null>((found, { value }) => found ?? longNumberIn(value), null)
    default:
      return null
  }
}
