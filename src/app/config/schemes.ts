import { nearest } from '../../core/options.ts'
import { maskedUrl } from '../../core/text/masking.ts'

export function schemeOf(url: string): string {
  return url.slice(0, url.indexOf(':') + 1)
}

/** Why no backend can open this URL; undefined if one can. */
export function urlProblem(url: string): string | undefined {
  return schemes.some((scheme) => url.startsWith(scheme)) ? undefined : unknownUrl(url)
}

/** Whether a job there can complete in one transaction with its own writes. */
export function hasTransactions(url: string): boolean {
  return ![...inMemory, ...brokers, ...redisSchemes].includes(schemeOf(url))
}

/** Whether the URL names a broker, which keeps no state that workers could share. */
export function isBroker(url: string): boolean {
  return brokers.includes(schemeOf(url))
}

/** Why this URL cannot be the coordination store of a broker; undefined if it can. */
export function coordinationProblem(url: string): string | undefined {
  const scheme = schemeOf(url)
  if (brokers.includes(scheme)) return `${scheme}… is a broker itself`
  if (inMemory.includes(scheme)) return `${scheme} is lost with the program, and the jobs in it would be, too`
  return urlProblem(url)
}

const inMemory = ['memory:', 'sync:']
const brokers = ['beanstalkd:', 'servicebus:']
const redisSchemes = ['redis:', 'rediss:', 'valkey:', 'valkeys:']
const schemes = [...inMemory, ...brokers, ...redisSchemes, 'sqlite:', 'postgres:', 'postgresql:', 'mysql:', 'mariadb:']

export function unknownUrl(url: string): string {
  return `No backend opens ${JSON.stringify(maskedUrl(url))}. ${meant(url)}Known: sqlite:FILE, postgres://…, mysql://…, mariadb://…, redis://…, beanstalkd://…, servicebus:…, memory:, sync:`
}

function meant(url: string): string {
  const scheme = schemeOf(url)
  if (scheme === '' || scheme === 'file:') return 'A file is named as sqlite:FILE. '
  const near = nearest(scheme, schemes)
  return near === undefined ? '' : `Did you mean ${near}? `
}
