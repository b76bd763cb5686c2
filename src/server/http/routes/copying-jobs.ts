import type { DispatchOptions } from '../../../definition/dispatching/dispatch.ts'
import { wireMember } from '../../../envelope/bedrock-meta.ts'
import type { Opened } from '../../../envelope/envelope.ts'
import { openRecord } from '../../../execution/admit/verifying.ts'
import type { JobRecord } from '../../../queue/contract/store.ts'
import type { HttpDeps } from '../deps.ts'
import type { Handlers } from '../route.ts'
import { SeenJobs } from '../seen-jobs.ts'
import { HttpProblem, noSuchJob } from '../wire/http-problem.ts'
import { memberTexts } from '../wire/json-text.ts'

/** The member of a copy's meta that names the original job. */
export const copyMember = 'copyOf'

/** Members of meta that belong to the request that created a job, and not to the job. */
const ofRequest = [wireMember, 'http', 'traceparent', 'tracestate']

/** Runs jobs again as new ones. */
export function copyingJobs({ service: { creating, execution, names } }: HttpDeps): Pick<Handlers, 'copyJob'> {
  const { store } = execution
  return {
    copyJob: async ({ params: { id }, exchange }) => {
      const record = await store.get(id)
      if (record === null) throw noSuchJob(id)
      // The copy is signed only if the original is: an edited payload would vouch for the name, queue and meta beside it.
      const opened = await openRecord(record, execution, (why) => rejected(id, why))
      if (opened.identity.encrypted === true) {
        throw new HttpProblem('payload-encrypted', `Job ${id} is encrypted: only a program that has its key can send it again`)
      }
      const payload = memberTexts(exchange.text === '' ? '{}' : exchange.text).get('payload') ?? opened.text
      const envelope = await creating.seal({ job: record.job, payload, options: optionsOf(record, opened), copied: opened })
      const receipt = await creating.send(envelope)
      names.touch(record.job)
      if (receipt.stored) return { status: 201, body: { id: receipt.id, created: true } }
      const holder = await new SeenJobs(exchange.grant, store).named(receipt.id)
      throw new HttpProblem('unique-key-taken', `Nothing was created: ${holder} has its unique key`)
    },
  }
}

/** The options of the original job, as far as they were given. */
function optionsOf(record: JobRecord, { identity }: Opened): DispatchOptions {
  const { queue, priority, maxRetries, timeoutMs, tags = [] } = identity
  const meta = Object.fromEntries(Object.entries(identity.meta).filter(([name]) => !ofRequest.includes(name)))
  return {
    queue,
    priority,
    tags,
    meta: { ...meta, [copyMember]: record.id },
    ...(record.group !== null && { group: record.group }),
    ...(maxRetries !== null && { maxRetries }),
    ...(timeoutMs !== null && { timeout: timeoutMs === 0 ? null : timeoutMs }),
  }
}

function rejected(id: string, why: string): HttpProblem {
  return new HttpProblem('job-not-waiting', `Job ${id} is rejected, and cannot be copied: ${why}`)
}
