import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'

const slots = 16_384

/** Three nodes of a Redis Cluster, each a process of its own. */
export class RedisClusterGround {
  readonly #folder = mkdtempSync(join(tmpdir(), 'treadle-cluster-'))
  readonly #nodes: { readonly port: number; readonly process: ChildProcess }[] = []

  get url(): string {
    return `redis://127.0.0.1:${this.#nodes[0]?.port}?cluster=true`
  }

  async start(): Promise<void> {
    for (let node = 0; node < 3; node++) await this.#startNode(node)
    const clients = this.#nodes.map(({ port }) => new Redis(port, '127.0.0.1'))
    // They connect again until the server is there.
    for (const client of clients) client.on('error', () => {})
    const share = Math.ceil(slots / clients.length)
    for (const [index, client] of clients.entries()) {
      const last = Math.min(slots, (index + 1) * share) - 1
      await client.call('CLUSTER', 'ADDSLOTSRANGE', String(index * share), String(last))
      await client.call('CLUSTER', 'MEET', '127.0.0.1', String(this.#nodes[0]?.port))
    }
    for (const client of clients) {
      while (!(await client.cluster('INFO')).includes('cluster_state:ok')) await client.ping()
      while (!(await client.cluster('INFO')).includes('cluster_known_nodes:3')) await client.ping()
      client.disconnect()
    }
  }

  /** Moves the slot of a key to the next node, as `redis-cli --cluster reshard` does; `halfway` each node has a part of the keys. */
  async moveSlotOf(key: string, halfway: (target: Redis) => Promise<void>): Promise<void> {
    const clients = this.#nodes.map(({ port }) => new Redis(port, '127.0.0.1'))
    try {
      const slot = Number(await clients[0]?.call('CLUSTER', 'KEYSLOT', key))
      const from = Math.floor(slot / Math.ceil(slots / clients.length))
      const to = (from + 1) % clients.length
      const [source, target] = [clients[from], clients[to]] as [Redis, Redis]
      const [sourceId, targetId] = [await source.call('CLUSTER', 'MYID'), await target.call('CLUSTER', 'MYID')] as [
        string,
        string,
      ]
      await target.call('CLUSTER', 'SETSLOT', slot, 'IMPORTING', sourceId)
      await source.call('CLUSTER', 'SETSLOT', slot, 'MIGRATING', targetId)
      const keys = (await source.call('CLUSTER', 'GETKEYSINSLOT', slot, 1_000)) as string[]
      const send = (those: string[]) => source.migrate('127.0.0.1', this.#nodes[to]?.port ?? 0, '', 0, 5_000, 'KEYS', ...those)
      await send(keys.slice(0, keys.length / 2))
      await halfway(target)
      await send((await source.call('CLUSTER', 'GETKEYSINSLOT', slot, 1_000)) as string[])
      for (const client of [target, source, ...clients]) await client.call('CLUSTER', 'SETSLOT', slot, 'NODE', targetId)
    } finally {
      for (const client of clients) client.disconnect()
    }
  }

  async stop(): Promise<void> {
    for (const { process } of this.#nodes) {
      process.kill('SIGKILL')
      if (process.exitCode === null && process.signalCode === null) await once(process, 'exit')
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }

  async #startNode(node: number): Promise<void> {
    const port = await freePort()
    const own = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', this.#folder, '--save', '', '--appendonly', 'no']
    const cluster = ['--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${node}.conf`, '--cluster-node-timeout', '5000']
    const process = spawn('redis-server', [...own, ...cluster], { stdio: 'ignore' })
    this.#nodes.push({ port, process })
  }
}

/** Below the ports whose partner for the cluster's own talk, 10,000 above, would be none. */
async function freePort(): Promise<number> {
  while (true) {
    const server = createServer().listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    server.close()
    await once(server, 'close')
    if (port + 10_000 < 65_536) return port
  }
}
