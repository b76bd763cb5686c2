import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'

/** Redis servers of one test file, each a process of its own. */
export class OwnServers implements AsyncDisposable {
  readonly folder = mkdtempSync(join(tmpdir(), 'treadle-redis-'))
  readonly #processes: ChildProcess[] = []

  /** Without a port where it is null. */
  start(port: number | null, ...settings: string[]): ChildProcess {
    const common = ['--port', `${port ?? 0}`, '--bind', '127.0.0.1', '--dir', this.folder, '--save', '', '--appendonly', 'no']
    return this.#run('redis-server', [...common, ...settings])
  }

  startSentinel(port: number, primary: number): ChildProcess {
    const file = join(this.folder, `sentinel-${port}.conf`)
    const said = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${this.folder}`,
      `sentinel monitor main 127.0.0.1 ${primary} 1`,
      'sentinel down-after-milliseconds main 500',
      'sentinel failover-timeout main 2000',
    ]
    writeFileSync(file, `${said.join('\n')}\n`)
    return this.#run('redis-server', [file, '--sentinel'])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of this.#processes) await end(each)
    rmSync(this.folder, { recursive: true, force: true })
  }

  #run(program: string, args: readonly string[]): ChildProcess {
    const process = spawn(program, args, { stdio: 'ignore' })
    this.#processes.push(process)
    return process
  }
}

export async function end(process: ChildProcess): Promise<void> {
  process.kill('SIGKILL')
  if (process.exitCode === null && process.signalCode === null) await once(process, 'exit')
}

/** A client that connects again until the server is there. */
export function patientClient(port: number) {
  const client = new Redis(port, '127.0.0.1', { maxRetriesPerRequest: null })
  client.on('error', () => {})
  return Object.assign(client, { [Symbol.asyncDispose]: async () => client.disconnect() })
}

export async function freePorts(count: number): Promise<readonly number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  const ports = servers.map((server) => (server.address() as AddressInfo).port)
  for (const server of servers) {
    server.close()
    await once(server, 'close')
  }
  return ports
}
