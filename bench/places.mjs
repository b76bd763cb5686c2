// Where a measurement finds an empty queue: a fresh folder, or a fresh database on a server that runs for the benchmark alone.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { withoutServers } from '../scripts/services/engines.mjs'
import { startServices } from '../scripts/services/start.mjs'
import { servers } from './servers.mjs'

/**
 * @typedef {object} Places
 * @property {string} description what is behind them, with what makes it durable
 * @property {() => Promise<string>} make
 * @property {(place: string) => Promise<void>} remove
 * @property {() => Promise<void>} close
 */

/**
 * @param {import('./plan.mjs').EngineName} engine
 * @param {(message: string) => void} say
 * @returns {Promise<Places>}
 */
export async function openPlaces(engine, say) {
  return engine === 'sqlite' ? folders() : await databases(engine, say)
}

/** @returns {Places} */
function folders() {
  const parent = mkdtempSync(join(cacheFolder(), 'bench-'))
  process.on('exit', () => rmSync(parent, { recursive: true, force: true }))
  return {
    description: 'SQLite, synchronous as the columns say',
    make: async () => mkdtempSync(join(parent, 'round-')),
    remove: async (folder) => rmSync(folder, { recursive: true, force: true }),
    close: async () => {},
  }
}

/** @returns {Promise<Places>} */
async function databases(engine, say) {
  // Never one that runs already: nobody knows what it does before it acknowledges a commit.
  const env = withoutServers(process.env)
  const services = await startServices({ names: [engine], durable: true, folder: cacheFolder(), env, say })
  const server = await servers[engine](services.urls[engine])
  let made = 0
  return {
    description: server.description,
    async make() {
      made++
      const name = server.nameOf?.(made) ?? `bench_${made}`
      await server.create(name)
      return withDatabase(services.urls[engine], name)
    },
    remove: (url) => server.drop(new URL(url).pathname.slice(1)),
    async close() {
      await server.close()
      await services.stop()
    },
  }
}

function withDatabase(server, name) {
  const url = new URL(server)
  url.pathname = name
  return url.href
}

/** On the disk of the checkout: a temporary folder is in memory on many systems, where a commit costs nothing. */
function cacheFolder() {
  const folder = fileURLToPath(new URL('node_modules/.cache/', import.meta.url))
  mkdirSync(folder, { recursive: true })
  return folder
}
