import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/core/logger.ts'
import { openRedis, openRedisUpkeep } from '../../../src/engines/redis/index.ts'
import { Bench, until } from '../../../src/testing/conformance/bench.ts'
import { ManualClock } from '../../../src/testing/manual-clock.ts'
import { canStart, ownServices } from '../../services.ts'
import { freshPrefix, openFresh, rawClient, redisUrl } from '../redis-ground.ts'
import { freePorts, OwnServers, patientClient } from './own-servers.ts'

describe('options of a queue in Redis', () => {
  test.each([
    [{}, 'give either a url or a client'],
    [{ url: 'http://localhost' }, 'write its url as redis://'],
    [{ url: 'redis://localhost?prefix={a}' }, 'prefix must be'],
    [{ url: 'redis://localhost?prefx=a' }, 'did you mean "prefix"'],
    [{ url: 'redis://localhost?family=4' }, 'unknown parameter "family" in its url; known: prefix, cluster'],
    [{ url: 'redis://localhost?db=1' }, 'write the number of the database as its path'],
    [{ client: { isOpen: true, sendCommand: () => {} } as never }, 'client must be a client of the package "ioredis"'],
    [
      { client: Object.assign(Object.create(Redis.prototype), { options: { replyMapping: 'resp3' } }) },
      'client must have its replyMapping left',
    ],
    [{ url: 'redis://localhost?timeout=1ms' }, 'at least 100ms'],
    [{ url: 'redis://localhost?cluster=yes' }, 'cluster must be true or false'],
    [{ url: 'redis://localhost?cluster=true&sentinel=main' }, 'either cluster or sentinel'],
    [{ url: 'redis://localhost/2?cluster=true' }, 'only the database 0'],
  ])('%j is refused: %s', async (options, problem) => {
    await expect(openRedis(options)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(problem) })
  })

  test.each(['redis:secret@localhost', 'redis:/ada:secret@localhost'])('the password is not told: %s', async (url) => {
    const message = expect.not.stringContaining('secret')
    await expect(openRedis({ url })).rejects.toMatchObject({ code: 'CONFIG_INVALID', message })
  })

  test('a server that is not there is told soon', async () => {
    for (const parameters of ['', '&cluster=true', '&sentinel=main']) {
      // It would be tried for an hour.
      const opening = openRedis({ url: `redis://127.0.0.1:1?timeout=1h${parameters}`, logger: silentLogger })
      await expect(opening).rejects.toMatchObject({ code: 'DATABASE_UNREACHABLE' })
    }
  })
})

describe.skipIf(redisUrl() === null)('a database of the server', () => {
  const inDatabase = (path: string) => openFresh({ url: `${redisUrl()}${path}` })

  test('is the one that the URL names', async () => {
    const prefix = freshPrefix()
    const backend = await openFresh({ url: `${redisUrl()}/3`, prefix })
    await new Bench(backend, new ManualClock()).send({})
    await backend[Symbol.asyncDispose]()
    const keys = async (path: string) => {
      await using client = await rawClient(`${redisUrl()}${path}`)
      return (await client.keys(`{${prefix}}:*`)).length
    }
    expect(await keys('/0')).toBe(0)
    expect(await keys('/3')).toBeGreaterThan(0)
  })

  test.each(['/abc', '/1.5', '/-1', '/1/2'])('%s is refused before anything is connected', async (path) => {
    await expect(inDatabase(path)).rejects.toMatchObject({ code: 'CONFIG_INVALID', message: expect.stringContaining(path) })
  })

  test('that the server does not have is refused', async () => {
    const refused = { code: 'CONFIG_INVALID', message: expect.stringContaining('no database 9999') }
    await expect(inDatabase('/9999')).rejects.toMatchObject(refused)
  })
})

describe.skipIf(!canStart('redis'))('a server with a password', () => {
  test('denies a wrong one, or none, at once and by name', async () => {
    await using servers = new OwnServers()
    const [port] = (await freePorts(1)) as [number]
    servers.start(port, '--requirepass', 'right')
    await using patient = patientClient(port)
    // Denied, as soon as the server is there.
    await expect(patient.ping()).rejects.toThrow('NOAUTH')
    // It would be tried again for an hour.
    const open = (login: string) => openFresh({ url: `redis://${login}127.0.0.1:${port}`, timeout: '1h' })
    await expect(open(':wrong@')).rejects.toMatchObject({ code: 'DATABASE_DENIED' })
    await expect(open('')).rejects.toMatchObject({ code: 'DATABASE_DENIED' })
    const backend = await open(':right@')
    await backend[Symbol.asyncDispose]()
  })
})

describe.skipIf(redisUrl() === null)('a client of the program', () => {
  test('serves the queue, and stays open when that is closed', async () => {
    await using client = await rawClient()
    const backend = await openRedis({ client, prefix: freshPrefix(), logger: silentLogger })
    expect(await backend.store.counts()).toEqual([])
    await backend[Symbol.asyncDispose]()
    expect(await client.call('PING')).toBe('PONG')
  })

  test('may put a prefix before all keys, and other programs with such a client are woken', async () => {
    const prefix = freshPrefix()
    const clients = [0, 1].map(() => new Redis(redisUrl() ?? '', { keyPrefix: 'app:', lazyConnect: true }))
    const [one, other] = await Promise.all(clients.map((client) => openRedis({ client, prefix, logger: silentLogger })))
    let wakes = 0
    const watch = one!.watch(() => {
      wakes++
    })
    await until(() => watch.isPush && wakes > 0, 'it listens')
    const before = wakes
    await new Bench(other!, new ManualClock()).sendOne()
    await until(() => wakes > before, 'it is woken')
    watch.close()
    await one![Symbol.asyncDispose]()
    await other![Symbol.asyncDispose]()
    for (const client of clients) client.disconnect()
    await using raw = await rawClient()
    expect(await raw.exists(`app:{${prefix}}:h`)).toBe(1)
  })

  test('a queue with the layout of an earlier build is refused', async () => {
    await using client = await rawClient()
    const prefix = freshPrefix()
    await client.hset(`{${prefix}}:n`, 'default\nmail\nready', 1)
    await expect(openFresh({ prefix })).rejects.toMatchObject({ code: 'SCHEMA_OUTDATED' })
  })

  test('valkey:// is the same as redis://', async () => {
    const backend = await openFresh({ url: (redisUrl() ?? '').replace('redis:', 'valkey:') })
    expect(await backend.store.counts()).toEqual([])
    await backend[Symbol.asyncDispose]()
  })
})

describe.skipIf(!canStart('redis'))('the settings of a server', () => {
  let services: Awaited<ReturnType<typeof ownServices>>
  beforeAll(async () => {
    services = await ownServices(['redis'], { durable: true })
  })
  afterAll(() => services.stop())

  const configure = async (name: string, value: string) => {
    await using client = await rawClient(services.urls.redis)
    await client.call('CONFIG', 'SET', name, value)
  }
  const findings = async () => {
    await using upkeep = await openRedisUpkeep({ url: services.urls.redis })
    return new Map((await upkeep.diagnose()).map(({ check, verdict, found }) => [check, { verdict, found }]))
  }

  test('one that evicts is refused, unless that is asked for', async () => {
    await configure('maxmemory-policy', 'allkeys-lru')
    const options = { url: services.urls.redis, prefix: freshPrefix(), logger: silentLogger }
    await expect(openRedis(options)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('allkeys-lru'),
    })
    const backend = await openRedis({ ...options, allowEviction: true })
    await backend[Symbol.asyncDispose]()
    expect((await findings()).get('eviction')?.verdict).toBe('problem')
    await configure('maxmemory-policy', 'noeviction')
    expect((await findings()).get('eviction')?.verdict).toBe('ok')
  })

  test('what a crash can lose is told', async () => {
    const told: string[] = []
    const logger = { ...silentLogger, info: (text: string) => told.push(text), warn: (text: string) => told.push(text) }
    const open = async () => {
      const backend = await openRedis({ url: services.urls.redis, prefix: freshPrefix(), logger })
      await backend[Symbol.asyncDispose]()
      return told.splice(0)
    }
    expect(await open()).toEqual([])
    expect((await findings()).get('durability')).toMatchObject({ verdict: 'ok' })
    await configure('appendfsync', 'everysec')
    expect(await open()).toEqual([expect.stringContaining('the last second')])
    expect((await findings()).get('durability')).toMatchObject({ verdict: 'warning' })
    await configure('appendonly', 'no')
    expect(await open()).toEqual([expect.stringContaining('loses all jobs')])
    expect((await findings()).get('durability')).toMatchObject({ verdict: 'problem' })
  })
})
