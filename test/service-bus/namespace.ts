import { parseServiceBusUrl } from '../../src/engines/service-bus/connections/url.ts'

/** A namespace, or the official emulator, that the suite is to use in place of the test broker. */
export interface Namespace {
  readonly connectionString: string
  /** A queue that belongs to the tests: it is emptied again and again. */
  readonly entity: string
}

export const namespaceUrl: Namespace | null = namespaceOf(process.env.TREADLE_TEST_SERVICE_BUS_URL)

function namespaceOf(url: string | undefined): Namespace | null {
  if (url === undefined || url === '') return null
  const problems: string[] = []
  const { connectionString, queues } = parseServiceBusUrl(url, problems)
  if (problems.length > 0) throw new Error(`TREADLE_TEST_SERVICE_BUS_URL: ${problems.join('; ')}`)
  return { connectionString, entity: queues?.[0] ?? 'treadle-test' }
}
