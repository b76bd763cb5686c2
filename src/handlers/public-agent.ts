import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Agent, buildConnector } from 'undici'
import { TreadleError } from '../core/errors.ts'

/**
 * An HTTP client that can reach public addresses only, except for allowed hosts. Every connection checks the resolved address and
 * then connects to exactly that address, so DNS rebinding cannot bypass the check.
 */
export async function publicAgent(allowed: ReadonlySet<string>): Promise<Agent> {
  // Loaded on demand: it takes longer to load than the rest of the library.
  const { Agent, buildConnector } = await import('undici')
  // Set explicitly, because an environment variable can turn the default off.
  const verified = { rejectUnauthorized: true }
  const connectAnywhere = buildConnector(verified)
  const connectToPublic = buildConnector({ ...verified, lookup: publicLookup })
  return new Agent({
    connect(options, callback) {
      if (allowed.has(hostAndPort(options))) return connectAnywhere(options, callback)
      // A literal IP address is never resolved, so the lookup would not check it.
      const problem = isIP(options.hostname) === 0 ? undefined : addressProblem(options.hostname)
      if (problem !== undefined) return callback(refused(options.hostname, problem), null)
      connectToPublic(options, callback)
    },
  })
}

/**
 * The form in which a host and port are allowed: `'localhost:3000'`, `'[::1]:3000'`. Accepts IPv6 addresses with or without
 * brackets.
 */
export function hostAndPort({
  hostname,
  port,
  protocol,
}: Pick<buildConnector.Options, 'hostname' | 'port' | 'protocol'>): string {
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname
  return `${host}:${port || (protocol === 'https:' ? '443' : '80')}`
}

/** Why an address must not be reached; undefined if it is public. */
export function addressProblem(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return `${address} is no address`
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  if (range !== 'unicast') return `the address ${address} is ${range}, not public`
  // IPv6 addresses outside this block are reserved or have a special meaning, such as IPv4 addresses in an old notation.
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(globalUnicast)) return `the address ${address} is reserved, not public`
  return undefined
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

export function refused(host: string, why: string): TreadleError {
  const advice = 'Name it as host:port in the option "allowHosts" of url() if the job is meant to reach it.'
  return new TreadleError('URL_REFUSED', `The request to ${host} was refused: ${why}. ${advice}`)
}

/** Refuses a name if any of its addresses is not public: no legitimate name has both kinds. */
const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (failure, addresses) => {
    if (failure !== null) return callback(failure, [])
    const problem = addresses.map(({ address }) => addressProblem(address)).find((found) => found !== undefined)
    if (problem !== undefined) return callback(refused(hostname, problem), [])
    const [first] = addresses
    if (options.all || first === undefined) return callback(null, addresses)
    callback(null, first.address, first.family)
  })
}
