import { describe, expect, test } from 'vitest'
import { TreadleError } from '../../../src/core/errors.ts'
import { served } from './served.ts'

describe('a reply', () => {
  test('to a library tells the count of changes, which only ever rises, and how long it took', async () => {
    const { ask, stop, clock, restart } = await served()
    const first = await ask('CreateJob', { name: 'a' })
    expect(first.headers).toMatchObject({ nodeName: expect.any(String), processTime: expect.stringMatching(/^\d+$/) })
    const second = await ask('CreateJob', { name: 'a' })
    expect(Number(second.headers.commitCount)).toBeGreaterThan(Number(first.headers.commitCount))
    const look = await ask('QueryJob', { jobID: 1 })
    expect(look.headers).toMatchObject({ commitCount: second.headers.commitCount, peekTime: expect.any(String) })
    expect(look.headers).not.toHaveProperty('processTime')
    await stop()
    await clock.advance(1_000)
    const later = await (await restart()).ask('CreateJob', { name: 'a', commitCount: second.headers.commitCount })
    expect(Number(later.headers.commitCount)).toBeGreaterThan(Number(second.headers.commitCount))
  })

  test('to a person is as short as the documentation shows it, unless more is asked for', async () => {
    const { client } = await served()
    const nc = await client()
    nc.send('CreateJob\nname: a\n\n')
    expect(await nc.reply()).toBe('200 OK\r\nContent-Length: 11\r\n\r\n{"jobID":1}')
    nc.send('QueryJob\njobID: 1\nverbose: true\n\n')
    expect(await nc.reply()).toMatch(/commitCount: \d+\r\n.*"priority":500/s)
  })

  test.each([
    ['Ping', '200 OK'],
    ['ping', '200 OK'],
    ['CreateJob / HTTP/1.1', '402 Missing name'],
    ['Nonsense', '430 Unrecognized command'],
    ['Ping twice', '430 Unrecognized command'],
    ['Status / HTTP/1.1', '430 Unrecognized command'],
    ['ClearCrashedBedrockJobs / HTTP/1.1', '430 Unrecognized command'],
    ['POST /CreateJob HTTP/1.1', '430 Unrecognized command'],
    ['GET / HTTP/1.1', '430 Unrecognized command'],
  ])('to %s is %s', async (verb, status) => {
    expect(await (await served()).status(verb)).toBe(status)
  })

  test('to a load balancer is HTTP', async () => {
    const { client } = await served()
    const balancer = await client()
    balancer.send('GET /status/handlingCommands HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await balancer.reply()).toMatch(/^HTTP\/1\.1 200 LEADING\r\n/)
    balancer.send('GET /status/isFollower HTTP/1.1\r\nHost: x\r\n\r\n')
    expect(await balancer.reply()).toMatch(/^HTTP\/1\.1 500 Not Following\. State=LEADING\r\n/)
  })

  test('to Status tells what there is', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'a' })
    expect((await ask('Status')).json).toMatchObject({ state: 'LEADING', isLeader: true, plugins: ['Jobs'], jobs: { ready: 1 } })
  })
})

describe('the crash list', () => {
  test('fails jobs of these names in place of handing them out, until it is cleared', async () => {
    const { ask } = await served()
    await ask('CreateJob', { name: 'bad/one' })
    await ask('CreateJob', { name: 'good' })
    await ask('CrashBedrockJob', { names: 'bad/*, worse' })
    expect((await ask('GetJob', { name: 'bad/*' })).body).toBe('{}')
    expect((await ask('QueryJob', { jobID: 1 })).json.state).toBe('FAILED')
    expect((await ask('GetJob', { name: '*' })).json.name).toBe('good')
    await ask('ClearCrashedBedrockJobs')
    await ask('CreateJob', { name: 'bad/two' })
    expect((await ask('GetJob', { name: 'bad/*' })).json.name).toBe('bad/two')
  })
})

describe('a server', () => {
  test('that asks for a token answers nobody else', async () => {
    const { status } = await served({ token: 'open sesame' })
    expect(await status('CreateJob', { name: 'a' })).toBe('401 Unauthorized')
    expect(await status('GET /status/handlingCommands HTTP/1.1')).toBe('HTTP/1.1 200 LEADING')
    expect(await status('CreateJob', { name: 'a', token: 'open sesame' })).toBe('200 OK')
    expect(await status('GetJob', { name: 'a' })).toBe('200 OK')
  })

  test.each([
    [{ host: '0.0.0.0' }, /needs a token/],
    [{ host: null }, /host must be an address or a name/],
    [{ port: 70_000 }, /port must be/],
    [{ port: null, httpPort: null }, /nothing to listen on/],
    [{ lease: '1ms' }, /lease must be/],
    [{ token: 'short' }, /token must be/],
    [{ prot: 1 }, /prot/],
  ])('with %j is refused', async (options, message) => {
    await expect(served(options as never)).rejects.toThrow(message)
  })

  test('that stops answers those who wait, and takes no more', async () => {
    const { client, stop } = await served()
    const worker = await client()
    await worker.wait('a')
    await stop(10_000)
    expect(await worker.all()).toMatch(/^404 No job found/)
    await expect(client()).rejects.toThrow(/ECONNREFUSED/)
  })
})

test('a database that is away for a while is told as what may be tried again', async () => {
  const { ask, backend, log } = await served()
  const { send } = backend
  backend.send = async () => {
    throw new TreadleError('DATABASE_UNREACHABLE', 'The database cannot be reached')
  }
  expect((await ask('CreateJob', { name: 'a' })).status).toBe('500 Unhandled Exception')
  expect(log.at(-1)).toMatch(/createjob failed: The database cannot be reached/)
  backend.send = send
  expect((await ask('CreateJob', { name: 'a' })).status).toBe('200 OK')
})
