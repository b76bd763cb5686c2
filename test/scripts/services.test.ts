import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createConnection } from 'mysql2/promise'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { EngineName } from '../../scripts/services/engines.mjs'
import { describedServer } from '../../scripts/services/server-handle.mjs'
import type { Services } from '../../scripts/services/start.mjs'
import { isAlive } from '../processes/alive.ts'
import { canStart, ownServices } from '../services.ts'
import { keptData } from './kept-data.ts'

const engines: readonly EngineName[] = ['postgres', 'mariadb', 'redis', 'valkey', 'beanstalkd']
const names = engines.filter(canStart)

describe.each([{ durable: false }, { durable: true }])('servers that are started with %o', ({ durable }) => {
  let services: Services
  beforeAll(async () => {
    services = await ownServices(names, { durable })
  })
  afterAll(() => services.stop())

  test.skipIf(!canStart('postgres'))('PostgreSQL waits for the disk only when it has to be durable', async () => {
    expect(await askPostgres(services.urls.postgres, 'SHOW fsync')).toEqual([{ fsync: durable ? 'on' : 'off' }])
    expect(await askPostgres(services.urls.postgres, 'SHOW synchronous_commit')).toEqual([{ synchronous_commit: 'on' }])
  })

  test.skipIf(!canStart('mariadb'))('MariaDB waits for the disk only when it has to be durable', async () => {
    const sql = 'SELECT @@innodb_flush_log_at_trx_commit AS flushes, @@innodb_flush_method AS method'
    const expected = durable ? { flushes: 1, method: 'O_DIRECT' } : { flushes: 2, method: 'nosync' }
    expect(await askMysql(services.urls.mariadb, sql)).toEqual([expected])
  })

  describe.each(engines)('%s', (name) => {
    describe.skipIf(!names.includes(name))('where it is installed', () => {
      const { put, words } = keptData[name]
      const server = () => services.servers[name]

      test('keeps its data when it is restarted and when it is killed, on the same port', async () => {
        const { url, pid } = server()
        await put(url, 'word')
        await server().restart()
        expect(server().pid).not.toBe(pid)
        expect(await words(url)).toEqual(['word'])
        await server().kill()
        expect(server().pid).toBeNull()
        await expect(words(url)).rejects.toThrow()
        await server().start()
        expect(await words(url)).toEqual(['word'])
      })

      test('is stopped and started by a process that only knows its description', async () => {
        const other = describedServer(name, services.variables.TREADLE_TEST_SERVICES!)!
        expect(other.url).toBe(server().url)
        await Promise.all([other.stop(), other.start(), other.restart()])
        expect(other.pid).toBe(server().pid)
        expect(await words(other.url)).toEqual(['word'])
      })

      test.skipIf(process.platform !== 'linux')('listens on 127.0.0.1 and nowhere else', () => {
        const port = Number(new URL(server().url).port).toString(16).toUpperCase()
        expect(listeningAddresses(server().pid!)).toEqual([`0100007F:${port}`])
      })
    })
  })
})

describe.skipIf(!canStart('postgres'))('PostgreSQL', () => {
  test('takes at least 200 connections, and none of its processes goes on when it is killed', async () => {
    const services = await ownServices(['postgres'])
    const clients = Array.from({ length: 200 }, () => new pg.Client({ connectionString: services.urls.postgres }))
    for (const client of clients) client.on('error', () => {})
    await Promise.all(clients.map((client) => client.connect()))
    const { rows } = await clients[0]!.query('SELECT pg_backend_pid() AS pid')
    const busy = clients[0]!.query('DO $$ BEGIN LOOP END LOOP; END $$').catch((error) => error)
    await services.servers.postgres.kill()
    expect(await busy).toBeInstanceOf(Error)
    expect(isAlive(rows[0].pid)).toBe(false)
    await services.servers.postgres.start()
    await services.stop()
  })
})

describe.skipIf(!canStart('mariadb'))('MariaDB', () => {
  test('takes at least 200 connections', async () => {
    const services = await ownServices(['mariadb'])
    const connections = await Promise.all(Array.from({ length: 200 }, () => createConnection(services.urls.mariadb)))
    await Promise.all(connections.map((connection) => connection.end()))
    await services.stop()
  })
})

async function askPostgres(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(sql)).rows
  } finally {
    await client.end()
  }
}

async function askMysql(url: string, sql: string): Promise<unknown> {
  const connection = await createConnection(url)
  try {
    return (await connection.query(sql))[0]
  } finally {
    await connection.end()
  }
}

/** As `address:port` in the hexadecimal form of /proc. */
function listeningAddresses(pid: number): readonly string[] {
  const sockets = readdirSync(`/proc/${pid}/fd`).map((fd) => linkOf(`/proc/${pid}/fd/${fd}`))
  const listens = '0A'
  return ['tcp', 'tcp6'].flatMap((kind) =>
    readFileSync(`/proc/${pid}/net/${kind}`, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === listens && sockets.includes(`socket:[${fields[9]}]`))
      .map((fields) => fields[1]!),
  )
}

/** Empty when the file was closed meanwhile. */
function linkOf(path: string): string {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
