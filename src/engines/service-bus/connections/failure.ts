import { type ErrorCode, messageOf, TreadleError } from '../../../core/errors.ts'

/** The queue's errors for codes of the SDK's `ServiceBusError`. */
const known: Readonly<Record<string, { readonly code: ErrorCode; readonly say: (entity: string) => string }>> = {
  UnauthorizedAccess: {
    code: 'DATABASE_DENIED',
    say: (entity) =>
      `Service Bus does not let this program use "${entity}". Check the key in the connection string: sending needs the Send claim, and workers need Send and Listen.`,
  },
  MessagingEntityNotFound: {
    code: 'DATABASE_NOT_FOUND',
    say: (entity) =>
      `Service Bus has no queue "${entity}". Create it (az servicebus queue create --name ${entity} …), or say how queues are called with prefix, queues or entityName.`,
  },
  MessagingEntityDisabled: {
    code: 'DATABASE_UNWRITABLE',
    say: (entity) => `The Service Bus queue "${entity}" is disabled. Set its status to Active.`,
  },
  QuotaExceeded: {
    code: 'DATABASE_UNWRITABLE',
    say: (entity) =>
      `The Service Bus queue "${entity}" is full. Empty it or its dead-letter queue, or make it larger (max-size, in megabytes).`,
  },
  ServiceBusy: {
    code: 'DATABASE_BUSY',
    say: (entity) =>
      `Service Bus is too busy to answer for "${entity}". Try again; where it happens often, the namespace needs more messaging units.`,
  },
  MessageSizeExceeded: {
    code: 'PAYLOAD_TOO_LARGE',
    say: (entity) =>
      `A job is larger than a message of the Service Bus queue "${entity}" may be: 256 KB in the Standard tier. Keep large data elsewhere and send a reference, or use the Premium tier.`,
  },
}

const unreachable = ['ServiceCommunicationProblem', 'ServiceTimeout']

/** Translates an error of the SDK. */
export function serviceBusFailure(thrown: unknown, entity: string): TreadleError {
  if (thrown instanceof TreadleError) return thrown
  const cause = lastOf(thrown)
  const code = codeOf(cause)
  const { code: own, say } = known[code ?? ''] ?? {}
  if (own !== undefined && say !== undefined) return new TreadleError(own, `${say(entity)} (${messageOf(cause)})`, { cause })
  if (
    code === undefined ||
    unreachable.includes(code) ||
    isRetryable(cause) ||
    networkCode.test(code) ||
    connectionLost.test(messageOf(cause))
  ) {
    const message = `Service Bus cannot be reached for "${entity}": ${messageOf(cause)}. Check the endpoint, the network and the firewall (port 5671).`
    return new TreadleError('DATABASE_UNREACHABLE', message, { cause })
  }
  return new TreadleError('DATABASE_FAILED', `Service Bus refused a request for "${entity}": ${messageOf(cause)} (${code})`, {
    cause,
  })
}

/** Whether the lock used to settle or renew a message is not, or no longer, the current one. */
export function isLockLost(thrown: unknown): boolean {
  return codeOf(lastOf(thrown)) === 'MessageLockLost' || messageOf(thrown).includes('has already been settled')
}

/** Whether there is no scheduled message with this number: it has become active or was already cancelled. */
export function isNotScheduled(thrown: unknown): boolean {
  return codeOf(lastOf(thrown)) === 'MessageNotFound'
}

const networkCode = /^E[A-Z]+$/
/** The SDK reports some of these only with a general code. */
const connectionLost =
  /\bE(?:CONN|HOST|NET|NOTFOUND|PIPE|AI_AGAIN)|disconnect|connection (?:was|is)? ?(?:lost|closed|reset)|socket/i

/** After several attempts, the SDK throws all their errors together. A known code says more than that a link was closed. */
function lastOf(thrown: unknown): unknown {
  if (!(thrown instanceof AggregateError)) return thrown
  return thrown.errors.findLast((error) => Object.hasOwn(known, codeOf(error) ?? '')) ?? thrown.errors.at(-1) ?? thrown
}

/** Some errors have the names of the SDK's AMQP layer. */
const aliases: Readonly<Record<string, string>> = {
  UnauthorizedError: 'UnauthorizedAccess',
  MessagingEntityNotFoundError: 'MessagingEntityNotFound',
  MessagingEntityDisabledError: 'MessagingEntityDisabled',
  QuotaExceededError: 'QuotaExceeded',
  ServerBusyError: 'ServiceBusy',
  MessageTooLargeError: 'MessageSizeExceeded',
  MessageLockLostError: 'MessageLockLost',
  MessageNotFoundError: 'MessageNotFound',
}

function codeOf(thrown: unknown): string | undefined {
  const { code } = (thrown ?? {}) as { readonly code?: unknown }
  return typeof code === 'string' ? (aliases[code] ?? code) : undefined
}

function isRetryable(thrown: unknown): boolean {
  return (thrown as { readonly retryable?: unknown } | null)?.retryable === true
}
