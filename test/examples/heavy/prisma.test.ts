import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freshDatabase } from '../../services.ts'
import { Example, PackedPackage } from '../example.ts'

let packed: PackedPackage
beforeAll(() => {
  packed = new PackedPackage()
})
afterAll(() => packed[Symbol.dispose]())

test('the example for Prisma generates its client, compiles, and confirms what was committed, and nothing else', async ({
  skip,
}) => {
  const example = new Example(packed, 'prisma')
  onTestFinished(() => example.end())
  // Its install script would download engines, which a client with a driver adapter does not use.
  const problem = example.install(packed, '--ignore-scripts')
  if (problem !== null) return skip(problem)
  await using database = await freshDatabase('postgres')
  const env = {
    DATABASE_URL: database.url,
    TREADLE_SIGNING_KEY: 'at least 32 characters of a secret',
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    CHECKPOINT_DISABLE: '1',
  }
  await example.run(process.execPath, ['node_modules/prisma/build/index.js', 'generate', '--no-hints'], env)
  await example.run(process.execPath, ['node_modules/typescript/bin/tsc'])
  const said = await example.run(process.execPath, ['--import', 'tsx', 'place-orders.ts'], env)
  expect(said).toBe('order 2 is not paid\n1 order\norder 1 is confirmed\n1 succeeded\n')
})
