/** The parts of a `servicebus:` URL. */
export interface ParsedServiceBusUrl {
  readonly connectionString: string
  readonly queues?: readonly string[]
  readonly prefix?: string
  readonly levels?: readonly number[]
  readonly maxDeliveryCount?: number
}

const parameterNames = ['queues', 'prefix', 'levels', 'maxDeliveryCount', 'emulator']

export function parseServiceBusUrl(url: string, problems: string[]): ParsedServiceBusUrl {
  const [, place = '', query = ''] = /^servicebus:([^?]*)\??(.*)$/s.exec(url) ?? []
  const parameters = new URLSearchParams(query)
  const unknown = [...parameters.keys()].filter((name) => !parameterNames.includes(name))
  if (unknown.length > 0)
    problems.push(`its url has unknown parameters: ${unknown.join(', ')}; known: ${parameterNames.join(', ')}`)
  const connectionString = place.startsWith('//') ? fromAuthority(place, parameters) : place
  if (connectionString === undefined || !/Endpoint=/i.test(connectionString)) problems.push(howToWrite)
  const list = (name: string) => parameters.get(name)?.split(',')
  const [queues, levels, prefix, most] = [
    list('queues'),
    list('levels'),
    parameters.get('prefix'),
    parameters.get('maxDeliveryCount'),
  ]
  return {
    connectionString: connectionString ?? '',
    ...(queues !== undefined && { queues }),
    ...(levels !== undefined && { levels: levels.map(Number) }),
    ...(prefix !== null && { prefix }),
    ...(most !== null && { maxDeliveryCount: Number(most) }),
  }
}

/** `//KEYNAME:KEY@host:port`. A key may contain slashes, escaped or not, but no `@`. */
function fromAuthority(place: string, parameters: URLSearchParams): string | undefined {
  const [, name, key, host] = /^\/\/([^:]+):(.+)@([^@/]+)\/?$/s.exec(place) ?? []
  if (name === undefined || key === undefined) return undefined
  const emulator = parameters.get('emulator') === 'true' ? ';UseDevelopmentEmulator=true' : ''
  return `Endpoint=sb://${host}/;SharedAccessKeyName=${unescaped(name)};SharedAccessKey=${unescaped(key)}${emulator}`
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const howToWrite =
  'write its url as servicebus://KEYNAME:KEY@namespace.servicebus.windows.net, or as servicebus: and a connection string (Endpoint=sb://…;SharedAccessKeyName=…;SharedAccessKey=…)'
