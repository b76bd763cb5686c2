import { chmodSync, existsSync, rmSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { wireClient } from '../server/bedrock/wire.ts'
import { Project, type Running } from './project.ts'

async function portOf(running: Running): Promise<number> {
  const said = await running.says('"server:started"')
  return JSON.parse(said.split('\n')[0] as string).tcp.port as number
}

const serving = ['serve', '--port', '0', '--no-http', '--json']

describe('treadle serve', () => {
  it('serves a new queue in a folder where there is nothing, and stops in an orderly way', async () => {
    const project = new Project()
    const running = project.start(['serve', '--port', '0', '--no-http'])
    const said = await running.says('worker  ')
    expect(said).toMatch(/^serving sqlite:treadle\.db\n {2}tcp {8}127\.0\.0\.1:\d+\n {2}token {6}none/)
    const client = await wireClient(Number(/:(\d+)\n/.exec(said)?.[1]))
    client.send('CreateJob\nname: a\n\n')
    expect(await client.reply()).toBe('200 OK\r\nContent-Length: 11\r\n\r\n{"jobID":1}')
    client.socket.end()
    running.child.kill('SIGTERM')
    expect(await running.ended).toMatchObject({ code: 0, out: expect.stringMatching(/\nstopped\n$/) })
    expect(existsSync(project.path('treadle.db'))).toBe(true)
  })

  it('with --work and no job to run, is refused before it serves anything or makes a database', async () => {
    const project = new Project()
    const refused = await project.call([...serving, '--work'])
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('Add one to the jobs folder') })
    expect(existsSync(project.path('treadle.db'))).toBe(false)
  })

  it('says that its database file was replaced, and ends with a failure, though nobody asks it for anything', async () => {
    const project = new Project()
    const running = project.start(serving)
    await portOf(running)
    for (const file of ['treadle.db', 'treadle.db-wal', 'treadle.db-shm']) rmSync(project.path(file), { force: true })
    expect(await running.ended).toMatchObject({
      code: 1,
      err: expect.stringMatching(
        /treadle\.db was deleted or moved.*DATABASE_REPLACED|DATABASE_REPLACED.*treadle\.db was deleted/s,
      ),
    })
  })

  it('takes tokens from a file that is nobody else’s, and warns where it has none', async () => {
    const project = new Project({ tokens: 'read just-looking\nwork a-worker-of-mail jobs=mail/*\n' })
    chmodSync(project.path('tokens'), 0o644)
    const open = project.start([...serving, '--token-file', 'tokens'])
    expect(await open.ended).toMatchObject({ err: expect.stringContaining('chmod 600') })
    chmodSync(project.path('tokens'), 0o600)
    const client = await wireClient(await portOf(project.start([...serving, '--token-file', 'tokens'])))
    client.send('Ping\n\nCreateJob\ntoken: just-looking\nname: mail/a\n\n')
    client.send('CreateJob\ntoken: a-worker-of-mail\nname: mail/a\n\nCreateJob\nname: b\n\n')
    const told = (await client.replies(4)).map((reply) => reply.slice(0, 3))
    expect(told).toEqual(['401', '403', '200', '403'])
    const unguarded = project.start(serving)
    await portOf(unguarded)
    unguarded.child.kill('SIGTERM')
    expect(await unguarded.ended).toMatchObject({ err: expect.stringContaining('has no token') })
  })

  it('has lost nothing that it acknowledged when it is killed, and knows who has which job', async () => {
    const project = new Project()
    const first = project.start(serving)
    const client = await wireClient(await portOf(first))
    for (let job = 1; job <= 20; job++) client.send(`CreateJob\nname: a\ndata: {"n":${job}}\n\n`)
    await client.replies(20)
    client.send('GetJob\nname: a\n\n')
    expect(await client.reply()).toContain('"jobID":1')
    first.child.kill('SIGKILL')
    await first.ended

    const second = project.start(serving)
    const again = await wireClient(await portOf(second))
    again.send('FinishJob\njobID: 1\n\nGetJobs\nname: *\nnumResults: 100\n\nCreateJob\nname: b\n\n')
    const [finished, rest, created] = await again.replies(3)
    expect(finished).toMatch(/^200 OK/)
    const numbers = [...(rest as string).matchAll(/"jobID":(\d+)/g)].map(([, number]) => Number(number))
    expect(numbers).toEqual(Array.from({ length: 19 }, (_, index) => index + 2))
    expect(Number(/"jobID":(\d+)/.exec(created as string)?.[1])).toBeGreaterThan(20)
  })

  it('works the jobs of the project, too, and they are the same jobs', async () => {
    const project = new Project({
      'treadle.config.ts': `export default { url: 'sqlite:jobs.db' }`,
      'jobs/hello.ts': `import { jobs } from 'treadle'\njobs.define('hello', async ({ name }: { name: string }) => console.log('hello', name))`,
    })
    const running = project.start([...serving, '--work'])
    const client = await wireClient(await portOf(running))
    client.send('CreateJob\nname: hello\ndata: {"name":"Ada"}\n\n')
    await client.reply()
    await running.says('hello Ada')
    await running.says('"job:succeeded"')
    running.child.kill('SIGTERM')
    expect((await running.ended).code).toBe(0)
  })

  it('speaks HTTP, too', async () => {
    const running = new Project().start(['serve', '--port', '0', '--http-port', '0', '--json'])
    const said = await running.says('"server:started"')
    const { tcp, http } = JSON.parse(said.split('\n')[0] as string)
    const client = await wireClient(tcp.port)
    client.send('CreateJob\nname: over-the-wire\n\n')
    await client.reply()
    const answer = await fetch(`http://127.0.0.1:${http.port}/api/v1/jobs`)
    expect(await answer.json()).toMatchObject({ jobs: [{ job: 'over-the-wire', state: 'ready' }] })
  })

  it('refuses what cannot be', async () => {
    const project = new Project()
    for (const [args, words] of [
      [['--host', '0.0.0.0'], /needs a token/],
      [['--token', 'short'], /at least 8 characters/],
      [['--token', ''], /at least 8 characters/],
      [['--read-token', ''], /at least 8 characters/],
      [['--token-file', ''], /there is no token file/],
      [['--read-token', 'long enough'], /needs a token/],
      [['--tls-cert', 'cert.pem'], /go together/],
      [['--no-tcp', '--no-http'], /nothing to listen on/],
      [['--grace', '1s'], /--grace needs --work/],
      [['--port', '99999'], /from 0 to 65535/],
    ] as const) {
      const { code, err } = await project.call(['serve', ...args])
      expect(code).toBe(2)
      expect(err).toMatch(words)
    }
    expect(existsSync(project.path('treadle.db'))).toBe(false)
  })

  it('says who has the port', async () => {
    const project = new Project()
    const port = await portOf(project.start(serving))
    const { code, err } = await project.call(['serve', '--port', String(port), '--no-http'])
    expect(code).not.toBe(0)
    expect(err).toMatch(new RegExp(`127\\.0\\.0\\.1:${port}`))
  })
})

describe('Query', () => {
  it('reads the jobs as a table, and nothing else', async () => {
    const project = new Project()
    const running = project.start(serving)
    const client = await wireClient(await portOf(running))
    const ask = async (query: string, more = '') => {
      client.send(`Query: ${query}\n${more}\n`)
      return client.reply()
    }
    expect(await ask('SELECT * FROM jobs;')).toBe('200 OK\r\nContent-Length: 0\r\n\r\n')
    client.send(
      'CreateJob\nname: a/b\nrepeat: hourly\ndata: {"x": 1}\njobPriority: 750\n\nCreateJob\nname: c\n\nGetJob\nname: c\n\n',
    )
    await client.replies(3)
    expect(await ask('SELECT jobID, state, name, repeat, data, priority, parentJobID FROM jobs ORDER BY jobID DESC;')).toBe(
      '200 OK\r\nContent-Length: 143\r\n\r\njobID | state | name | repeat | data | priority | parentJobID\n2 | RUNNING | c |  | {} | 500 | 0\n1 | QUEUED | a/b | HOURLY | {"x": 1} | 750 | 0\n',
    )
    expect(await ask('SELECT name, jobID FROM jobs WHERE jobID = 1;', 'format: json\n')).toContain(
      '{"headers":["name","jobID"],"rows":[["a\\/b",1]]}',
    )
    for (const [query, answer] of [
      ['DELETE FROM jobs;', /^402 Bad query\r\nerror: only SELECT/],
      ['ATTACH DATABASE "/tmp/x.db" AS x;', /^402 Bad query/],
      ['SELECT nope FROM jobs;', /^402 Bad query\r\nerror: no such column: nope/],
      ['SELECT 1', /^502 Query Missing Semicolon/],
      ['', /^402 Missing query/],
      ['WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t;', /took longer than 5 s/],
    ] as const) {
      expect(await ask(query)).toMatch(answer)
    }
  })
})

describe('treadle manage', () => {
  it('does the jobs of the server', async () => {
    const project = new Project({
      'workers/Double.mjs': 'export default ({ n }) => ({ n: n * 2 })',
      'workers/Broken.mjs': `export default () => { throw new Error('no use') }`,
    })
    const port = await portOf(project.start(serving))
    const manager = project.start([
      'manage',
      '--name',
      '*',
      '--workers',
      'workers',
      '--port',
      String(port),
      '--max-load',
      '100000',
    ])
    const client = await wireClient(port)
    client.send('CreateJob\nname: Double\ndata: {"n":21}\nrepeat: FINISHED, +1 DAY\n\nCreateJob\nname: Broken\n\n')
    await client.replies(2)
    await manager.says('✓ Double 1')
    await manager.says('✗ Broken 2')
    client.send('QueryJob\njobID: 1\n\nQueryJob\njobID: 2\n\n')
    const [double, broken] = await client.replies(2)
    expect(double).toMatch(/"data":\{"n":42\}.*"state":"QUEUED"/)
    expect(broken).toMatch(/no use.*"state":"FAILED"/)
    manager.child.kill('SIGTERM')
    expect((await manager.ended).code).toBe(0)
  })
})
