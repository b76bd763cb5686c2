import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type BedrockClient, bedrockClient } from '../../src/client/bedrock/client.ts'
import { isAlive } from '../processes/alive.ts'
import { certificate } from '../server/bedrock/certificate.ts'
import { until } from '../world.ts'
import { Project, type Running } from './project.ts'

interface Served {
  readonly client: BedrockClient
  readonly project: Project
  manage(env?: Readonly<Record<string, string>>, ...args: readonly string[]): Running
}

/** A server on a file, a client of it, and managers as they are started by hand. */
async function served(workers: Readonly<Record<string, string>>, ...args: readonly string[]): Promise<Served> {
  const files = Object.entries(workers).map(([name, text]) => [`workers/${name}`, text])
  const project = new Project({ ...Object.fromEntries(files), ...certificate })
  const serving = project.start(['serve', '--url', 'sqlite:jobs.db', '--port', '0', '--no-http', '--json', ...args])
  let said = ''
  serving.child.stdout?.on('data', (bytes) => {
    said += bytes
  })
  await until(() => said.includes('\n'))
  const { port } = (JSON.parse(said.split('\n')[0] as string) as { tcp: { port: number } }).tcp
  const isEncrypted = args.includes('--tls-cert')
  const client = bedrockClient(isEncrypted ? { port, host: 'localhost', tls: { ca: certificate.cert } } : { port })
  onTestFinished(() => client.close())
  const common = ['manage', '--name', '*', '--workers', 'workers', '--port', String(port), '--max-load', '100000']
  return { client, project, manage: (env = {}, ...more) => project.start([...common, ...more], { env }) }
}

describe('a manager of jobs that a server has', () => {
  it('does them in every way that they can end', async () => {
    const { client, manage } = await served({
      'Once.ts': 'export default ({ n }: { n: number }) => ({ n: n + 1 })',
      'Often.mjs': 'export default ({ n = 0 }) => ({ n: n + 1 })',
      'Fails.mjs': `export default () => { throw new Error('no disk') }`,
      'Later.mjs': `export default () => { throw Object.assign(new Error('busy'), { name: 'RetryJob', delay: 600 }) }`,
    })
    const running = manage()
    const once = await client.createJob({ name: 'Once', data: { n: 1 } })
    const often = await client.createJob({ name: 'Often', repeat: 'FINISHED, +1 HOUR' })
    const fails = await client.createJob({ name: 'Fails', data: { n: 1 } })
    const later = await client.createJob({ name: 'Later', data: { n: 1 } })
    const missing = await client.createJob({ name: 'Missing' })
    for (const text of ['✓ Once', '✓ Often', '✗ Fails', '↻ Later', '✗ Missing']) await running.says(text)
    expect(await client.queryJob(once)).toBe(undefined)
    expect(await client.queryJob(often)).toMatchObject({ state: 'QUEUED', data: { n: 1 } })
    expect(await client.queryJob(fails)).toMatchObject({
      state: 'FAILED',
      data: { n: 1, error: expect.stringContaining('no disk') },
    })
    expect(await client.queryJob(later)).toMatchObject({ state: 'QUEUED', data: { n: 1 } })
    expect(await client.queryJob(missing)).toMatchObject({
      state: 'FAILED',
      data: { error: expect.stringContaining('no worker') },
    })
    running.child.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 0 })
  })

  it('that dies leaves them to their leases, ends its workers, and another one does them', async () => {
    const worker = `import { writeFileSync } from 'node:fs'
export default async () => {
  if (!process.env.PATIENT) return
  writeFileSync('pid', String(process.pid))
  await new Promise((resolve) => setTimeout(resolve, 600_000))
}`
    const { client, project, manage } = await served({ 'Job.mjs': worker }, '--lease', '1s')
    const dying = manage({ PATIENT: '1' })
    const jobID = await client.createJob({ name: 'Job' })
    await until(() => existsSync(project.path('pid')))
    dying.child.kill('SIGKILL')
    const pid = Number(readFileSync(project.path('pid'), 'utf8'))
    await until(() => !isAlive(pid))
    const next = manage()
    await next.says(`✓ Job ${jobID}`)
  })

  it('is reached with TLS, and has to be trusted', async () => {
    const { client, project, manage } = await served(
      { 'Job.mjs': 'export default () => {}' },
      '--tls-cert',
      'cert',
      '--tls-key',
      'key',
    )
    const jobID = await client.createJob({ name: 'Job' })
    const wary = manage({}, '--host', 'localhost', '--tls')
    await wary.says('cannot be reached: self-signed certificate')
    const trusting = manage({}, '--host', 'localhost', '--tls-ca', project.path('cert'))
    await trusting.says(`✓ Job ${jobID}`)
    const { code, err } = await project.call(['manage', '--name', '*', '--workers', 'workers', '--tls-ca', 'nowhere'])
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('--tls-ca: nowhere cannot be read: ENOENT') })
  })

  it('that stops as it is handed one either does it or leaves it to others', async () => {
    const { client, manage } = await served({ 'Job.mjs': 'export default () => {}' })
    for (let round = 0; round < 5; round++) {
      const running = manage()
      await running.says('managing')
      const created = client.createJob({ name: 'Job' })
      running.child.kill('SIGTERM')
      const [jobID, { out }] = await Promise.all([created, running.ended])
      if (out.includes(`✓ Job ${jobID}`)) continue
      await until(async () => (await client.getJob('Job', { wait: '1s' }))?.jobID === jobID)
    }
  })
})
