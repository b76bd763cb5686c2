import { expect, it, onTestFinished } from 'vitest'
import { wireJobOf } from '../../../src/server/bedrock/jobs/format/wire-job.ts'
import { jobJson } from '../../../src/server/http/wire/job-json.ts'
import { writeJson } from '../../../src/server/http/wire/verbatim.ts'
import { admitLeases } from '../../../src/server/jobs/claiming/admission.ts'
import { JobService } from '../../../src/server/jobs/job-service.ts'
import { world } from '../../world.ts'

const claim = { jobs: [{ job: 'mail', concurrency: null }], queues: null, limit: 1, leaseMs: 3_000, owner: 'test', maxRescues: 9 }

it('an encrypted job is shown as such by the servers, and handed out by none of them', async () => {
  const { jobs, backend, record } = world({ signingKey: { id: 'k1', secret: 'correct horse battery staple' } })
  const run = await jobs.declare('mail').encrypt().dispatch('a secret')
  const shown = '{"encrypted":true,"kid":"k1"}'
  expect(wireJobOf(await record(run))?.data).toBe(shown)
  expect(writeJson(jobJson(await record(run)))).toContain(`"payload":${shown},`)
  const { leases } = await backend.lease(claim)
  const service = new JobService(await jobs.served(), 3)
  onTestFinished(() => service.stop())
  expect(await admitLeases(leases, service)).toEqual([])
  expect(await record(run)).toMatchObject({ state: 'dead', reason: 'rejected', errors: [{ code: 'HANDLER_DENIED' }] })
})
