import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../services.ts'
import { Example, PackedPackage } from './example.ts'
import { expectWebServer } from './web-example.ts'

let packed: PackedPackage
beforeAll(() => {
  packed = new PackedPackage()
})
afterAll(() => packed[Symbol.dispose]())

async function linked(name: string): Promise<Example> {
  const example = new Example(packed, name)
  onTestFinished(() => example.end())
  return example.link(packed)
}

describe('the example for', () => {
  test('plain Node runs its jobs, and stops in order', async () => {
    const example = await linked('node')
    const program = await example.start([example.compile('app.ts')], 'sent to ada@example.com')
    expect(await program.stop()).toMatchObject({ exit: 0, output: expect.stringContaining('stopped after 1 jobs') })
    expect(await example.treadle('list', '--state', 'scheduled')).toContain('send-welcome')
  })

  test.each(['express', 'fastify', 'hono'])('%s dispatches, shows the dashboard, and a worker runs the job', async (name) => {
    const example = await linked(name)
    await expectWebServer(example, [example.compile('server.ts')], 'listening')
    expect(await example.treadle('run')).toContain('Welcome, ada@example.com!')
  })

  test('Vite builds a server that does the same', async () => {
    const example = await linked('vite')
    await example.run(process.execPath, ['node_modules/vite/bin/vite.js', 'build', '--logLevel', 'warn'])
    await expectWebServer(example, ['dist/server.js'], 'listening')
    expect(await example.treadle('run')).toContain('Welcome, ada@example.com!')
  })

  test('transactions with pg, Drizzle, Kysely and Knex confirms what was committed, and nothing else', async () => {
    const example = await linked('transactions')
    const said: Record<string, string> = {}
    for (const client of ['pg', 'drizzle', 'kysely', 'knex']) {
      await using database = await freshDatabase('postgres')
      const env = { DATABASE_URL: database.url, TREADLE_SIGNING_KEY: 'at least 32 characters of a secret' }
      said[client] = await example.run(process.execPath, [example.compile(`${client}.ts`)], env)
    }
    const expected = 'order 2 is not paid\norder 1 is confirmed\n1 succeeded\n'
    expect(said).toEqual({ pg: expected, drizzle: expected, kysely: expected, knex: expected })
  })
})
