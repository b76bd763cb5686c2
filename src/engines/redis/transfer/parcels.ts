import { randomToken } from '../../../core/id.ts'
import { type MovedUnit, type Parcel, type ParcelLabel, receiptsKeptMs } from '../../../queue/contract/transfer.ts'
import { script } from '../connections/script.ts'
import type { RedisServer } from '../connections/server.ts'
import { pairsOf } from '../store/jobs.ts'
import type { Op } from '../units/places.ts'

/** A parcel without its id and jobs. */
export type ParcelHeader = Omit<Parcel, 'id' | 'units'>

/** A parcel is a hash: its header under an empty name, and each unit under its position. */
export function parcelKey(id: string): string {
  return `pc:${id}`
}

/** Stores the header of a parcel if one of its units was stored before, or if the header itself has contents. */
export function headerWrite(id: string, header: ParcelHeader): Op {
  const hasContents = header.paused.length > 0 || header.schedules.length > 0
  return ['K', parcelKey(id), JSON.stringify(header), hasContents ? '1' : '', id]
}

export function unitWrite(id: string, place: number, unit: MovedUnit): Op {
  return ['S', parcelKey(id), place, JSON.stringify(unit)]
}

export function parcelRemoval(id: string): readonly Op[] {
  return [
    ['U', parcelKey(id)],
    ['R', 'parcels', id],
  ]
}

export async function parcelLabels(server: RedisServer): Promise<readonly ParcelLabel[]> {
  const [ids] = (await server.all([['ZRANGE', 'parcels', 0, -1]])) as [string[]]
  const headers = await server.all(ids.map((id) => ['HGET', parcelKey(id), ''] as const))
  return ids.flatMap((id, index) => {
    const header = headers[index]
    return typeof header === 'string' ? [{ id, target: (JSON.parse(header) as ParcelHeader).target }] : []
  })
}

export async function storedParcel(server: RedisServer, id: string): Promise<Parcel | null> {
  const [flat] = (await server.all([['HGETALL', parcelKey(id)]])) as [string[] | Record<string, string>]
  const fields = new Map(pairsOf(flat))
  const header = fields.get('')
  if (header === undefined) return null
  const places = [...fields.keys()].filter((name) => name !== '').sort((a, b) => Number(a) - Number(b))
  const units = places.map((place) => JSON.parse(fields.get(place) as string) as MovedUnit)
  return { id, ...(JSON.parse(header) as Omit<Parcel, 'id' | 'units'>), units }
}

/** Created on first use if the queue was never part of a transfer. */
export async function identityOf(server: RedisServer): Promise<string> {
  const answers = await server.change([
    ['HSETNX', 'meta', 'identity', randomToken()],
    ['HGET', 'meta', 'identity'],
  ])
  return answers[1] as string
}

const sweepScript = script(`
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1] .. 'rcptx', '-inf', '(' .. ARGV[1])) do
  redis.call('HDEL', KEYS[1] .. 'rcpt', id)
  redis.call('ZREM', KEYS[1] .. 'rcptx', id)
end
return ''
`)

export async function sweepReceipts(server: RedisServer, now: number): Promise<void> {
  await server.run(sweepScript, [now - receiptsKeptMs])
}

export function receiptWrites(id: string, refusals: string, now: number): readonly Op[] {
  return [
    ['S', 'rcpt', id, refusals],
    ['A', 'rcptx', now, id],
  ]
}
