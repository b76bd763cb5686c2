// BullMQ, on Redis and with its PostgreSQL backend, which is part of the package.
import { createPostgresBackend, Queue, runMigrations, Worker } from 'bullmq'
import pg from 'pg'

/** @type {import('./contestant.mjs').Open} */
export async function openBullmq(url, handler) {
  await migrate(url)
  // Its page on PostgreSQL advises to remove what has ended.
  const defaultJobOptions = { removeOnComplete: true, removeOnFail: true }
  return contestant({ connection: url, defaultJobOptions }, handler, createPostgresBackend)
}

/** As it comes: finished jobs are kept, as Treadle keeps them. @type {import('./contestant.mjs').Open} */
export async function openBullmqOnRedis(url, handler) {
  const { hostname, port, pathname } = new URL(url)
  return contestant({ connection: { host: hostname, port: Number(port), db: Number(pathname.slice(1)) } }, handler)
}

function contestant({ connection, ...options }, handler = async () => {}, ...backend) {
  const queue = new Queue('bench', { connection, ...options }, ...backend)
  queue.on('error', report)
  let worker
  const start = (settings) => {
    worker = new Worker('bench', ({ data }) => handler(data), { connection, ...settings }, ...backend)
    worker.on('error', report)
  }
  const stop = async () => {
    await worker?.close()
    worker = undefined
  }
  return {
    add: (payload) => queue.add('bench', payload),
    addMany: (payloads) => queue.addBulk(payloads.map((data) => ({ name: 'bench', data }))),
    async drain(concurrency, count) {
      await new Promise((resolve) => {
        let left = count
        start({ concurrency })
        worker.on('completed', () => {
          if (--left === 0) resolve(undefined)
        })
      })
    },
    work: () => start({}),
    stop,
    async close() {
      await stop()
      await queue.close()
    },
  }
}

/** It does not do so by itself. */
async function migrate(url) {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await runMigrations(client)
  await client.end()
}

function report(error) {
  process.stderr.write(`bullmq: ${error.message}\n`)
}
