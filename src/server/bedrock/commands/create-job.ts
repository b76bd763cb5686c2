import { exactText, parseVerbatim, writeExact } from '../../../core/text/exact-json.ts'
import type { SendReceipt } from '../../../queue/contract/contract.ts'
import type { Grant } from '../../access/grant.ts'
import { type NewPlan, overwrite, type Plan, parentNotRunning, planJob, type Wish } from '../jobs/creating-jobs.ts'
import type { WireQueue } from '../jobs/wire-queue.ts'
import { leadingInteger } from '../wire/general-headers.ts'
import { has, rawTextOf, requiredText, textOf } from '../wire/parameters.ts'
import { Refusal } from '../wire/refusal.ts'
import type { BedrockRequest } from '../wire/request.ts'
import { wireObject } from '../wire/wire-values.ts'
import { type Command, okWith } from './command.ts'

const longestName = 255

export const createJob: Command = async (request, { jobs, peer }) => {
  const wish = wishOf(request)
  const store = () => storeOne(wish, jobs, peer.grant)
  const jobID = wish.unique === 'true' ? await jobs.uniques.alone(wish.name, store) : await store()
  return okWith(`{"jobID":${jobID}}`)
}

/** Creates all jobs or none. */
export const createJobs: Command = async (request, { jobs, peer }) => {
  const wishes = wishesOf(textOf(request, 'jobs'), has(request, 'mockRequest'))
  const names = wishes.filter(({ unique }) => unique === 'true').map(({ name }) => name)
  const jobIDs = await jobs.uniques.allAlone(names, () => storeAll(wishes, jobs, peer.grant))
  return okWith(wireObject({ jobIDs }))
}

/** How often a job is given another number because its own is taken. */
const mostNumbers = 3

async function storeOne(wish: Wish, jobs: WireQueue, grant: Grant, left = mostNumbers): Promise<number> {
  const plan = await takenUp(await planJob(wish, jobs, grant), wish, jobs, grant)
  if (typeof plan === 'number') return plan
  return numberOf(plan, await jobs.deps.creating.send(plan.envelope), jobs, grant, left)
}

/** Writes nothing before every wish has been validated. */
async function storeAll(wishes: readonly Wish[], jobs: WireQueue, grant: Grant): Promise<readonly number[]> {
  const planned: Plan[] = []
  const results = new Map<string, string>()
  for (const wish of wishes) {
    const plan = await planJob(wish, jobs, grant, results)
    planned.push(plan)
    if ('existing' in plan && plan.changes !== null) results.set(plan.changes.id, plan.changes.result)
  }
  const plans: (number | NewPlan)[] = []
  for (const [index, plan] of planned.entries()) plans.push(await takenUp(plan, wishes[index] as Wish, jobs, grant))
  const fresh = plans.filter((plan) => typeof plan !== 'number')
  const receipts = await jobs.deps.creating.sendAll(fresh.map(({ envelope }) => envelope))
  const numbers = new Map<NewPlan, number>()
  for (const [index, plan] of fresh.entries())
    numbers.set(plan, await numberOf(plan, receipts[index] as SendReceipt, jobs, grant))
  return plans.map((plan) => (typeof plan === 'number' ? plan : (numbers.get(plan) as number)))
}

/** The number of an existing job, changed as planned; the plan of a new one if there is none, or it has ended since. */
async function takenUp(plan: Plan, wish: Wish, jobs: WireQueue, grant: Grant): Promise<number | NewPlan> {
  if ('envelope' in plan) return plan
  return (await overwrite(plan, jobs)) ? plan.existing : takenUp(await planJob(wish, jobs, grant), wish, jobs, grant)
}

/** The number to return to the client. If there was such a job already, it is that one's, changed as the client asked. */
async function numberOf(plan: NewPlan, receipt: SendReceipt, jobs: WireQueue, grant: Grant, left = mostNumbers): Promise<number> {
  const { wish, number, envelope, parent } = plan
  const { names, numbers, heldChildren } = jobs.deps
  if (receipt.refused !== undefined) throw new Refusal(405, parentNotRunning)
  // With its own id it was stored before, by a try whose reply was lost.
  if (receipt.id !== envelope.id) {
    const found = await planJob(wish, jobs, grant)
    if ('existing' in found && (await overwrite(found, jobs))) return found.existing
    const other = await numbers.of(receipt.id)
    if (other === null) throw new Refusal(404, 'No job with this jobID')
    if (other !== number) return other
    // Another job has its number, because somebody has set the counter back: it is not stored yet.
    if (left === 0) throw new Refusal(500, 'The number of the job is taken')
    numbers.forgetReserved()
    return storeOne(wish, jobs, grant, left - 1)
  }
  numbers.note(number, envelope.id)
  if (parent !== null) await heldChildren.add(parent, envelope.id)
  names.touch(envelope.job)
  return number
}

function wishOf(request: BedrockRequest): Wish {
  return {
    name: requiredText(request, 'name', longestName),
    data: rawTextOf(request, 'data'),
    firstRun: textOf(request, 'firstRun'),
    repeat: textOf(request, 'repeat'),
    jobPriority: rawTextOf(request, 'jobPriority'),
    priority: rawTextOf(request, 'priority'),
    unique: textOf(request, 'unique'),
    overwrite: rawTextOf(request, 'overwrite'),
    parent: parentNumber(textOf(request, 'parentJobID')),
    retryAfter: textOf(request, 'retryAfter'),
    isMock: has(request, 'mockRequest'),
  }
}

/** Anything that is not a number, and 0, means no parent. */
function parentNumber(text: string | undefined): number | null {
  const number = leadingInteger(text ?? '')
  return number > 0 ? number : null
}

const mostJobs = 10_000

function wishesOf(text: string | undefined, isMock: boolean): readonly Wish[] {
  const list = listOf(text ?? '')
  if (list === null || list.length === 0) throw new Refusal(401, 'Invalid JSON')
  if (list.length > mostJobs) throw new Refusal(402, `More than ${mostJobs} jobs at once`)
  return list.map((item) => {
    if (typeof item !== 'object' || item === null || Array.isArray(item) || Object.keys(item).length === 0)
      throw new Refusal(401, 'Invalid JSON')
    return wishOfMember(item as Readonly<Record<string, unknown>>, isMock)
  })
}

function wishOfMember(item: Readonly<Record<string, unknown>>, isMock: boolean): Wish {
  const member = (name: string) => memberText(item[name])
  const name = member('name')
  if (name === undefined || name === '') throw new Refusal(402, 'Missing name')
  if (Buffer.byteLength(name) > longestName) throw new Refusal(402, 'Malformed name')
  return {
    name,
    data: member('data'),
    firstRun: member('firstRun') || undefined,
    repeat: member('repeat') || undefined,
    jobPriority: member('jobPriority'),
    priority: member('priority'),
    unique: member('unique'),
    overwrite: member('overwrite'),
    parent: parentNumber(member('parentJobID')),
    retryAfter: member('retryAfter') || undefined,
    isMock: isMock || Object.hasOwn(item, 'mockRequest'),
  }
}

/** Members may be JSON or strings that contain JSON: clients send both. */
function memberText(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined
  return typeof value === 'string' ? exactText(value) : writeExact(value)
}

function listOf(text: string): readonly unknown[] | null {
  try {
    const value = parseVerbatim(text)
    return Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
