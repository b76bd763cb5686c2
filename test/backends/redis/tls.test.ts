import { execFile, execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { openRedis } from '../../../src/engines/redis/index.ts'
import { canStart } from '../../services.ts'
import { freePorts, OwnServers, patientClient } from './own-servers.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Opens the queue that the URL names, and says what has become of a job that was sent. */
const program = `
import { treadle } from 'treadle'
const jobs = treadle(process.env.QUEUE_URL, { unsigned: true, logger: { debug() {}, info() {}, warn() {}, error() {} } })
const run = await jobs.define('greet', async (name) => {}).dispatch('Ada')
console.log(await run.state())
await jobs.close()
`

describe.skipIf(!canStart('redis'))('rediss://', () => {
  test('takes a server whose certificate is trusted, and no other', async () => {
    await using servers = new OwnServers()
    const [plain, port] = (await freePorts(2)) as [number, number]
    const [key, certificate] = [join(servers.folder, 'key.pem'), join(servers.folder, 'certificate.pem')]
    const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1']
    const made = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', certificate]
    execFileSync('openssl', [...made, ...subject], { stdio: 'ignore' })
    const files = ['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-ca-cert-file', certificate]
    servers.start(plain, '--tls-port', `${port}`, ...files, '--tls-auth-clients', 'no')
    await using client = patientClient(plain)
    await client.ping()

    const url = `rediss://127.0.0.1:${port}`
    const refused = openRedis({ url, logger: silentLogger, timeout: '1s' })
    await expect(refused).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE', message: expect.stringMatching(/certificate/) })

    const env = { ...process.env, QUEUE_URL: `valkeys://127.0.0.1:${port}`, NODE_EXTRA_CA_CERTS: certificate }
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program], { cwd: root, env })
    expect(stdout.trim()).toBe('ready')
  })
})
