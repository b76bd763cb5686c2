/** The part of `@azure/service-bus`'s ServiceBusClient that the queue uses. */
export interface ServiceBusClientLike {
  createSender(entity: string): ServiceBusSenderLike
  createReceiver(entity: string, options: ReceiverOptions): ServiceBusReceiverLike
  close(): Promise<void>
}

export interface ReceiverOptions {
  readonly receiveMode: 'peekLock'
  /** The queue renews the locks itself, because it knows how long a job is leased. */
  readonly maxAutoLockRenewalDurationInMs: 0
  readonly skipParsingBodyAsJson: true
  readonly subQueueType?: 'deadLetter'
}

export interface ServiceBusSenderLike {
  createMessageBatch(options?: { readonly maxSizeInBytes?: number }): Promise<MessageBatch>
  sendMessages(batch: MessageBatch): Promise<void>
  scheduleMessages(messages: OutgoingMessage[], at: Date): Promise<SequenceNumber[]>
  cancelScheduledMessages(sequenceNumbers: SequenceNumber): Promise<void>
  close(): Promise<void>
}

export interface MessageBatch {
  readonly maxSizeInBytes: number
  readonly sizeInBytes: number
  readonly count: number
  tryAddMessage(message: OutgoingMessage): boolean
}

export interface ServiceBusReceiverLike {
  receiveMessages(count: number, options: { readonly maxWaitTimeInMs: number }): Promise<ReceivedMessage[]>
  peekMessages(count: number, options?: { readonly fromSequenceNumber?: SequenceNumber }): Promise<ReceivedMessage[]>
  completeMessage(message: ReceivedMessage): Promise<void>
  abandonMessage(message: ReceivedMessage, properties?: Record<string, Property>): Promise<void>
  deadLetterMessage(message: ReceivedMessage, options?: Record<string, Property>): Promise<void>
  renewMessageLock(message: ReceivedMessage): Promise<Date>
  close(): Promise<void>
}

/** A 64-bit number from the package `long`, only passed back to the SDK. */
export interface SequenceNumber {
  toString(): string
}

export type Property = number | boolean | string | Date | null

export interface OutgoingMessage {
  body: Uint8Array
  contentType: string
  messageId: string
  subject: string
  correlationId: string
  applicationProperties: Record<string, Property>
}

export interface ReceivedMessage {
  readonly body: unknown
  readonly messageId?: unknown
  readonly state?: 'active' | 'deferred' | 'scheduled'
  readonly lockToken?: string
  readonly lockedUntilUtc?: Date
  readonly deliveryCount?: number
  readonly sequenceNumber?: SequenceNumber
  readonly enqueuedTimeUtc?: Date
  readonly applicationProperties?: Record<string, unknown>
  readonly deadLetterReason?: string
  readonly deadLetterErrorDescription?: string
  /** Not part of the SDK's interface, but present on every message: the link it arrived on. */
  readonly delivery?: { readonly link?: { is_open?(): boolean } }
}
