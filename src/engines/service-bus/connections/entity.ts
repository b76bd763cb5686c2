import { TreadleError } from '../../../core/errors.ts'
import { stopwatch } from '../../../core/time/clock.ts'
import type {
  MessageBatch,
  OutgoingMessage,
  Property,
  ReceivedMessage,
  SequenceNumber,
  ServiceBusClientLike,
  ServiceBusReceiverLike,
  ServiceBusSenderLike,
} from './client.ts'
import { isLockLost, isNotScheduled, serviceBusFailure } from './failure.ts'

/** How long the SDK waits before it asks the broker to deliver immediately. */
const waitMs = 10
/** How long the SDK waits for that answer before it gives up and closes its link. */
const drainTimeoutMs = 200
/** Maximum number of unsettled messages on one link of the SDK. */
const mostOnLink = 2_000
/** Maximum size of a batch of several messages, even if a single message may be larger. */
const largestBatchBytes = 1_000_000

const receiverOptions = { receiveMode: 'peekLock', maxAutoLockRenewalDurationInMs: 0, skipParsingBodyAsJson: true } as const

/** One queue of the namespace: wraps the SDK and translates its errors. */
export class Entity {
  readonly name: string
  readonly #client: ServiceBusClientLike
  readonly #subQueue: { readonly subQueueType?: 'deadLetter' }
  /** The receiver of each message, to tell whether it is still the current one. */
  readonly #origins = new WeakMap<ReceivedMessage, ServiceBusReceiverLike>()
  readonly #gate = new SettlementGate()
  #sender: ServiceBusSenderLike | undefined
  #receiver: ServiceBusReceiverLike | undefined
  /** Receive calls are serialized: the SDK allows one at a time. */
  #receiving: Promise<unknown> = Promise.resolve()
  #unsettled = 0

  constructor(client: ServiceBusClientLike, name: string, subQueueType?: 'deadLetter') {
    this.#client = client
    this.name = name
    this.#subQueue = subQueueType === undefined ? {} : { subQueueType }
  }

  /** Throws unless it exists and can be sent to. */
  async check(): Promise<void> {
    await this.#asked(() => this.#out().createMessageBatch())
  }

  /** Returns up to `count` available messages, each locked. Does not wait for more. */
  receive(count: number): Promise<readonly ReceivedMessage[]> {
    const received = this.#receiving.then(() => this.#receive(Math.min(count, mostOnLink - this.#unsettled)))
    this.#receiving = received.catch(() => {})
    return this.#asked(() => received)
  }

  /** Uses as few calls as the sizes allow; each is stored entirely or not at all. */
  async send(messages: readonly OutgoingMessage[]): Promise<void> {
    for (const { batch } of await this.#batches(messages)) await this.#asked(() => this.#out().sendMessages(batch))
  }

  /** Returns the numbers by which the messages can be cancelled while they are scheduled. */
  async schedule(messages: readonly OutgoingMessage[], at: number): Promise<readonly SequenceNumber[]> {
    const numbers: SequenceNumber[] = []
    for (const { part } of await this.#batches(messages)) {
      numbers.push(...(await this.#asked(() => this.#out().scheduleMessages([...part], new Date(at)))))
    }
    return numbers
  }

  /** False if it is not, or no longer, scheduled. */
  async cancel(number: SequenceNumber): Promise<boolean> {
    try {
      await this.#out().cancelScheduledMessages(number)
      return true
    } catch (thrown) {
      if (isNotScheduled(thrown)) return false
      throw serviceBusFailure(thrown, this.name)
    }
  }

  /** This, `abandon` and `deadLetter` return false if the lock is lost. */
  complete(message: ReceivedMessage): Promise<boolean> {
    return this.#gate.together(() => this.#settled(message, (receiver) => receiver.completeMessage(message)))
  }

  abandon(message: ReceivedMessage, properties: Record<string, Property>): Promise<boolean> {
    return this.#gate.alone(() => this.#settled(message, (receiver) => receiver.abandonMessage(message, properties)))
  }

  deadLetter(message: ReceivedMessage, properties: Record<string, Property>): Promise<boolean> {
    return this.#gate.alone(() => this.#settled(message, (receiver) => receiver.deadLetterMessage(message, properties)))
  }

  /** Returns when the lock now ends; null if the lock is lost. */
  async renew(message: ReceivedMessage): Promise<number | null> {
    try {
      return (await this.#in().renewMessageLock(message)).getTime()
    } catch (thrown) {
      if (isLockLost(thrown)) return null
      throw serviceBusFailure(thrown, this.name)
    }
  }

  peek(count: number, from?: SequenceNumber): Promise<readonly ReceivedMessage[]> {
    const options = from === undefined ? {} : { fromSequenceNumber: from }
    return this.#asked(() => this.#in().peekMessages(count, options))
  }

  async close(): Promise<void> {
    await this.#receiving
    await Promise.allSettled([this.#sender?.close(), this.#receiver?.close()])
  }

  async #receive(count: number): Promise<readonly ReceivedMessage[]> {
    if (count <= 0) return []
    const receiver = this.#in()
    const elapsedMs = stopwatch()
    try {
      const messages = await receiver.receiveMessages(count, { maxWaitTimeInMs: waitMs })
      for (const message of messages) this.#origins.set(message, receiver)
      this.#unsettled += messages.length
      if (messages.length < count && elapsedMs() >= drainTimeoutMs) this.#replace(receiver)
      return messages
    } catch (thrown) {
      this.#replace(receiver)
      throw thrown
    }
  }

  /**
   * When the SDK reopens a link, it reuses the old link's name and then waits forever for answers about that link's messages. So
   * a receiver whose link may be gone is not used again: its messages are settled by lock token on the management link.
   */
  #replace(receiver: ServiceBusReceiverLike): void {
    if (this.#receiver !== receiver) return
    this.#receiver = undefined
    this.#unsettled = 0
    receiver.close().catch(() => {})
  }

  async #settled(message: ReceivedMessage, settle: (receiver: ServiceBusReceiverLike) => Promise<void>): Promise<boolean> {
    const origin = this.#origins.get(message)
    if (origin !== undefined && message.delivery?.link?.is_open?.() === false) this.#replace(origin)
    if (origin !== undefined && origin === this.#receiver) this.#unsettled--
    try {
      await settle(this.#in())
      return true
    } catch (thrown) {
      if (isLockLost(thrown)) return false
      throw serviceBusFailure(thrown, this.name)
    }
  }

  async #batches(messages: readonly OutgoingMessage[]): Promise<readonly Batch[]> {
    const batches: Batch[] = []
    let last: { batch: MessageBatch; part: OutgoingMessage[] } | undefined
    for (const message of messages) {
      if (last?.batch.tryAddMessage(message)) {
        last.part.push(message)
        continue
      }
      last = { batch: await this.#batchWith(message), part: [message] }
      batches.push(last)
    }
    return batches
  }

  async #batchWith(message: OutgoingMessage): Promise<MessageBatch> {
    const whole = await this.#asked(() => this.#out().createMessageBatch())
    const maxSizeInBytes = Math.min(whole.maxSizeInBytes, largestBatchBytes)
    const batch = await this.#asked(() => this.#out().createMessageBatch({ maxSizeInBytes }))
    if (batch.tryAddMessage(message)) return batch
    if (whole.tryAddMessage(message)) return whole
    const text = `Job ${message.correlationId} ("${message.subject}") is larger than the ${whole.maxSizeInBytes} bytes that a message of the Service Bus queue "${this.name}" may have. Keep large data elsewhere and send a reference, or use the Premium tier.`
    throw new TreadleError('PAYLOAD_TOO_LARGE', text)
  }

  #out(): ServiceBusSenderLike {
    this.#sender ??= this.#client.createSender(this.name)
    return this.#sender
  }

  #in(): ServiceBusReceiverLike {
    this.#receiver ??= this.#client.createReceiver(this.name, { ...receiverOptions, ...this.#subQueue })
    return this.#receiver
  }

  async #asked<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
    try {
      return await ask()
    } catch (thrown) {
      throw serviceBusFailure(thrown, this.name)
    }
  }
}

interface Batch {
  readonly batch: MessageBatch
  readonly part: readonly OutgoingMessage[]
}

/**
 * Lets completions run concurrently and all other settlements alone. The SDK's AMQP library (rhea) merges settlements of one turn
 * of the event loop and gives the second of two neighbours the outcome of the first: an abandoned message could be completed.
 */
class SettlementGate {
  readonly #together = new Set<Promise<unknown>>()
  #lastAlone: Promise<unknown> = Promise.resolve()

  together<Answer>(settle: () => Promise<Answer>): Promise<Answer> {
    const settled = this.#lastAlone.then(settle)
    const over: Promise<unknown> = settled.catch(() => {}).finally(() => this.#together.delete(over))
    this.#together.add(over)
    return settled
  }

  alone<Answer>(settle: () => Promise<Answer>): Promise<Answer> {
    const before = [...this.#together]
    const settled = this.#lastAlone.then(() => Promise.all(before)).then(settle)
    this.#lastAlone = settled.catch(() => {})
    return settled
  }
}
