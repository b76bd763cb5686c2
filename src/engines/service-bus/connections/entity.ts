import { TreadleError } from '../../../core/errors.ts'
import { stopwatch } from '../../../core/time/clock.ts'
import { SettlementGate } from '../messages/settlement-gate.ts'
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

/** The SDK waits for so long before it asks the broker to send what it has at once. */
const waitMs = 10
/** After this the SDK gives up on that answer and closes its link. */
const drainTimeoutMs = 200
/** More unsettled messages than this do not fit on one link of the SDK. */
const mostOnLink = 2_000
/** A batch of many messages is no larger, also where one message may be. */
const largestBatchBytes = 1_000_000

const receiverOptions = { receiveMode: 'peekLock', maxAutoLockRenewalDurationInMs: 0, skipParsingBodyAsJson: true } as const

/** One queue of the namespace: what the SDK can do with it, with its errors in words of the queue. */
export class Entity {
  readonly name: string
  readonly #client: ServiceBusClientLike
  readonly #subQueue: { readonly subQueueType?: 'deadLetter' }
  /** The receivers that messages came from, to find out whether theirs is still the current one. */
  readonly #origins = new WeakMap<ReceivedMessage, ServiceBusReceiverLike>()
  readonly #gate = new SettlementGate()
  #sender: ServiceBusSenderLike | undefined
  #receiver: ServiceBusReceiverLike | undefined
  /** Calls for messages wait for each other: the SDK takes one at a time. */
  #receiving: Promise<unknown> = Promise.resolve()
  #unsettled = 0

  constructor(client: ServiceBusClientLike, name: string, subQueueType?: 'deadLetter') {
    this.#client = client
    this.name = name
    this.#subQueue = subQueueType === undefined ? {} : { subQueueType }
  }

  /** Whether it is there and may be sent to; throws where not. */
  async check(): Promise<void> {
    await this.#asked(() => this.#out().createMessageBatch())
  }

  /** What is there now, at most `count`, each under a lock. It does not wait for more. */
  receive(count: number): Promise<readonly ReceivedMessage[]> {
    const received = this.#receiving.then(() => this.#receive(Math.min(count, mostOnLink - this.#unsettled)))
    this.#receiving = received.catch(() => {})
    return this.#asked(() => received)
  }

  /** As few calls as the sizes allow; each is stored as a whole or not at all. */
  async send(messages: readonly OutgoingMessage[]): Promise<void> {
    for (const { batch } of await this.#batches(messages)) await this.#asked(() => this.#out().sendMessages(batch))
  }

  /** The numbers by which they can be cancelled as long as they wait. */
  async schedule(messages: readonly OutgoingMessage[], at: number): Promise<readonly SequenceNumber[]> {
    const numbers: SequenceNumber[] = []
    for (const { part } of await this.#batches(messages)) {
      numbers.push(...(await this.#asked(() => this.#out().scheduleMessages([...part], new Date(at)))))
    }
    return numbers
  }

  /** False where it is not, or no longer, scheduled. */
  async cancel(number: SequenceNumber): Promise<boolean> {
    try {
      await this.#out().cancelScheduledMessages(number)
      return true
    } catch (thrown) {
      if (isNotScheduled(thrown)) return false
      throw serviceBusFailure(thrown, this.name)
    }
  }

  /** Each of these is false where the lock is lost. */
  complete(message: ReceivedMessage): Promise<boolean> {
    return this.#gate.together(() => this.#settled(message, (receiver) => receiver.completeMessage(message)))
  }

  abandon(message: ReceivedMessage, properties: Record<string, Property>): Promise<boolean> {
    return this.#gate.alone(() => this.#settled(message, (receiver) => receiver.abandonMessage(message, properties)))
  }

  deadLetter(message: ReceivedMessage, properties: Record<string, Property>): Promise<boolean> {
    return this.#gate.alone(() => this.#settled(message, (receiver) => receiver.deadLetterMessage(message, properties)))
  }

  /** Until when it is locked now; null where the lock is lost. */
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
   * The SDK gives a link that it opens again the name of the one before, and then waits in vain for answers about messages of that.
   * A receiver whose link may be gone is not used again: its messages are settled by their lock tokens, on the management link.
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
