import type { Clock } from '../../core/time/clock.ts'
import { type Finding, judgeClock, problem, runChecks, warning, well } from '../../queue/upkeep/diagnosis.ts'
import type { RedisServer } from './connections/server.ts'
import { isTooOld, lossOf, type ServerSettings, settingsOf } from './server-settings.ts'
import { readServerTime } from './server-time.ts'
import { judgeKeys } from './spoilt-keys/finding.ts'

/** The share of memory in use that is worth a warning. */
const nearlyFull = 0.8

/** Checks everything that could make a queue on this server slow, wrong or less durable than it should be. */
export async function diagnoseRedis(server: RedisServer, clock: Clock): Promise<readonly Finding[]> {
  return runChecks(await settingsOf(server), {
    server: judgeServer,
    eviction: judgeEviction,
    durability: judgeDurability,
    memory: judgeMemory,
    keys: () => judgeKeys(server),
    jobs: () => judgeJobs(server),
    clock: async () => judgeClock((await readServerTime(server)).now - clock.now()),
  })
}

function judgeServer(settings: ServerSettings) {
  const { product, version, role } = settings
  if (version === '') return warning('its settings cannot be read', 'Give the user +info and +config|get.')
  const found = `${product} ${version}, ${role === 'master' ? 'a primary' : `a ${role}`}`
  if (isTooOld(settings)) return problem(found, 'Treadle needs Redis 6.2 or later, or Valkey.')
  return role === 'master' ? well(found) : problem(found, 'Name the primary in the URL: a replica takes no writes.')
}

function judgeEviction({ policy }: ServerSettings) {
  if (policy === null) return warning('maxmemory-policy could not be read', 'Make sure that it is noeviction.')
  if (policy === 'noeviction') return well('maxmemory-policy noeviction')
  const advice = 'Set maxmemory-policy noeviction: this one deletes jobs when the memory is full.'
  return problem(`maxmemory-policy ${policy}`, advice)
}

function judgeDurability(settings: ServerSettings) {
  const { isNone, text } = lossOf(settings)
  if (!settings.isWritingWell) {
    return problem(`${text}, and the last write to disk has failed`, 'Check the log of the server, and its disk.')
  }
  const advice = 'Set appendonly yes and appendfsync always if no job may be lost.'
  if (isNone) return well(text)
  return settings.isAppending ? warning(text, advice) : problem(text, advice)
}

function judgeMemory({ maxMemory, usedMemory }: ServerSettings) {
  const used = `${Math.round(usedMemory / 1_048_576)} MB in use`
  if (maxMemory === 0) {
    return warning(`${used}, without a limit (maxmemory 0)`, 'Set maxmemory, so that the system does not kill the server.')
  }
  const found = `${used} of ${Math.round(maxMemory / 1_048_576)} MB`
  const advice = 'Give it more memory, or keep finished jobs for a shorter time: a full server takes no more jobs.'
  return usedMemory < nearlyFull * maxMemory ? well(found) : warning(found, advice)
}

async function judgeJobs(server: RedisServer) {
  const [jobs, lanes, dead] = await server.all([
    ['HLEN', 'h'],
    ['ZCARD', 'open'],
    ['ZCARD', 'end:dead'],
  ])
  return well(`${jobs} stored, ${dead} of them dead; ${lanes} lanes with ready jobs`)
}
