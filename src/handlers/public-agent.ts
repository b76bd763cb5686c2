import { lookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { Agent, buildConnector } from 'undici'
import { TreadleError } from '../core/errors.ts'

/**
 * An HTTP client that reaches public addresses, and the allowed hosts wherever they are. Addresses are checked for each connection
 * and the connection is made to the address that was checked, so a name that changes its address in between gains nothing.
 */
export async function publicAgent(allowed: ReadonlySet<string>): Promise<Agent> {
  // Loading it takes longer than all the rest of the library: programs that send no requests must not pay for it.
  const { Agent, buildConnector } = await import('undici')
  // Said explicitly, because an environment variable can turn the default off.
  const verified = { rejectUnauthorized: true }
  const connectAnywhere = buildConnector(verified)
  const connectToPublic = buildConnector({ ...verified, lookup: publicLookup })
  return new Agent({
    connect(options, callback) {
      if (allowed.has(hostAndPort(options))) return connectAnywhere(options, callback)
      // A literal address is never looked up.
      const problem = isIP(options.hostname) === 0 ? undefined : addressProblem(options.hostname)
      if (problem !== undefined) return callback(refused(options.hostname, problem), null)
      connectToPublic(options, callback)
    },
  })
}

/** The name under which a host and port are allowed: `'localhost:3000'`, `'[::1]:3000'`. Brackets may be there already or not. */
export function hostAndPort({
  hostname,
  port,
  protocol,
}: Pick<buildConnector.Options, 'hostname' | 'port' | 'protocol'>): string {
  const host = isIP(hostname) === 6 ? `[${hostname}]` : hostname
  return `${host}:${port || (protocol === 'https:' ? '443' : '80')}`
}

/** Why an address must not be reached, or undefined when it is a public one. */
export function addressProblem(address: string): string | undefined {
  const parsed = ipaddr.process(address)
  const range = parsed.range()
  if (range !== 'unicast') return `the address ${address} is ${range}, not public`
  // Outside of this block IPv6 has only addresses that mean something else, such as IPv4 ones in an old notation.
  if (parsed instanceof ipaddr.IPv6 && !parsed.match(globalUnicast)) return `the address ${address} is reserved, not public`
  return undefined
}

const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

export function refused(host: string, why: string): TreadleError {
  const advice = 'Name it as host:port in the option "allowHosts" of url() if the job is meant to reach it.'
  return new TreadleError('URL_REFUSED', `The request to ${host} was refused: ${why}. ${advice}`)
}

/** One address that is not public spoils them all: no honest name has both. */
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
