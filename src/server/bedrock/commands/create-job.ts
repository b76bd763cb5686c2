import { exactText, parseExact, writeExact } from '../../../core/text/exact-json.ts'
import type { SendReceipt } from '../../../queue/contract/contract.ts'
import type { Grant } from '../../access/grant.ts'
import { type NewPlan, type Plan, parentNotRunning, planJob, type Wish } from '../jobs/creating-jobs.ts'
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
  const store = async () => {
    const plan = await planJob(wish, jobs, peer.grant)
    return 'existing' in plan ? plan.existing : numberOf(plan, await jobs.deps.creating.send(plan.envelope), jobs)
  }
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

async function storeAll(wishes: readonly Wish[], jobs: WireQueue, grant: Grant): Promise<readonly number[]> {
  const plans: Plan[] = []
  for (const wish of wishes) plans.push(await planJob(wish, jobs, grant))
  const fresh = plans.filter((plan) => 'envelope' in plan)
  const receipts = await jobs.deps.creating.sendAll(fresh.map(({ envelope }) => envelope))
  const numbers = new Map<Plan, number>()
  for (const [index, plan] of fresh.entries()) numbers.set(plan, await numberOf(plan, receipts[index] as SendReceipt, jobs))
  return plans.map((plan) => ('existing' in plan ? plan.existing : (numbers.get(plan) as number)))
}

/** The number to return to the client; that of the existing job if there was one already. */
async function numberOf({ number, envelope, heldBy }: NewPlan, receipt: SendReceipt, jobs: WireQueue): Promise<number> {
  const { names, numbers } = jobs.deps
  if (receipt.refused !== undefined) throw new Refusal(405, parentNotRunning)
  if (!receipt.stored) {
    const other = await numbers.of(receipt.id)
    if (other === null) throw new Refusal(404, 'No job with this jobID')
    return other
  }
  numbers.note(number, envelope.id)
  if (heldBy !== null) jobs.deps.heldChildren.note(heldBy, envelope.id)
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
    const value = parseExact(text)
    return Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
