import type { AddressInfo, Server, Socket } from 'node:net'
import rhea, {
  type Connection,
  type Container,
  type Delivery,
  type EventContext,
  type Message,
  type Receiver,
  type Sender,
  type ServerConnectionOptions,
} from 'rhea'
import { type Clock, systemClock } from '../../../src/core/time/clock.ts'
import { type AccessKey, keyOfToken, type Right } from './claims.ts'
import { Entity, type EntitySettings } from './entity.ts'
import { manage, type Reply } from './management.ts'
import { OutgoingLink } from './outgoing-link.ts'
import { conditions, incoming, scheduledTime } from './wire.ts'

export interface BrokerOptions {
  readonly clock?: Clock
  /** Of every entity, unless `entities` says otherwise. */
  readonly settings?: Partial<EntitySettings>
  /** The only entities that there are; without this, an entity is made when it is first named. */
  readonly entities?: Readonly<Record<string, Partial<EntitySettings>>>
  readonly keys?: readonly AccessKey[]
  readonly maxMessageBytes?: number
}

const defaults: EntitySettings = { lockMs: 60_000, maxDeliveryCount: 10, duplicateWindowMs: null }
const everything: AccessKey = { name: 'root', key: 'c2VjcmV0', rights: ['Send', 'Listen'] }

/**
 * Speaks AMQP 1.0 as Azure Service Bus does, as far as its SDK asks: claims, peek-lock, settling, lock renewal, scheduled messages,
 * dead-letter sub-queues and peeking. What it holds survives `stop` and `start`, as it would in the service.
 */
export class ServiceBusBroker {
  #clock: Clock
  readonly #options: BrokerOptions
  readonly #keys: readonly AccessKey[]
  readonly #entities = new Map<string, Entity>()
  readonly #sockets = new Set<Socket>()
  readonly #links = new Set<OutgoingLink>()
  readonly #rights = new WeakMap<Connection, ReadonlySet<Right>>()
  #container: Container | undefined
  #server: Server | undefined
  #port = 0
  #refusals: string[] = []
  #unanswered: string[] = []
  /** What the SDK asked of `$management` and its links, in order. */
  readonly log: string[] = []
  drainDelayMs = 0

  constructor(options: BrokerOptions = {}) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#keys = options.keys ?? [everything]
    for (const name of Object.keys(options.entities ?? {})) this.#make(name)
  }

  connectionString({ name, key }: Pick<AccessKey, 'name' | 'key'> = everything): string {
    return `Endpoint=sb://127.0.0.1:${this.#port};SharedAccessKeyName=${name};SharedAccessKey=${key};UseDevelopmentEmulator=true`
  }

  /** Of the entities that are made from now on. */
  useClock(clock: Clock): void {
    this.#clock = clock
  }

  get connections(): number {
    return this.#sockets.size
  }

  entity(name: string): Entity {
    const found = this.#find(name)
    if (found === undefined) throw new Error(`The broker has no entity ${name}`)
    return found
  }

  async start(): Promise<this> {
    this.#container = rhea.create_container({ id: 'test-broker' })
    this.#container.sasl_server_mechanisms.enable_anonymous()
    this.#listenToLinks(this.#container)
    const server = this.#container.listen({
      port: this.#port,
      host: '127.0.0.1',
      receiver_options: { max_message_size: this.#options.maxMessageBytes ?? 100 * 1024 * 1024, autoaccept: false },
      sender_options: { autosettle: false },
    } as ServerConnectionOptions)
    this.#server = server
    server.on('connection', (socket: Socket) => {
      socket.setNoDelay(true)
      this.#sockets.add(socket)
      socket.on('close', () => this.#sockets.delete(socket))
    })
    await new Promise((resolve) => server.once('listening', resolve))
    this.#port = (server.address() as AddressInfo).port
    return this
  }

  /** Nobody is answered any more, until it starts again. */
  async stop(): Promise<void> {
    const server = this.#server
    this.#server = undefined
    const closed = new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)))
    this.cut()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    for (const entity of this.#entities.values()) entity.close()
  }

  /** Cuts every connection, as a network does. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy()
    for (const link of this.#links) link.close()
    this.#links.clear()
  }

  /** The next messages that are sent are refused with this. */
  refuseSends(count: number, condition: string): void {
    this.#refusals = Array(count).fill(condition)
  }

  /** The next requests of this kind are carried out, and then the connection is cut before they are answered. */
  cutBeforeAnswering(...operations: readonly string[]): void {
    this.#unanswered.push(...operations)
  }

  #listenToLinks(container: Container): void {
    container.on('sender_open', (context: EventContext) => this.#openOutgoing(context.sender as Sender))
    container.on('receiver_open', (context: EventContext) => this.#openIncoming(context.receiver as Receiver))
    container.on('message', (context: EventContext) => this.#receive(context))
    for (const outcome of ['accepted', 'rejected', 'modified'])
      container.on(outcome, (context: EventContext) => this.#settle(context, outcome))
    // A connection that is cut is what these tests are about.
    for (const event of ['disconnected', 'connection_error', 'protocol_error', 'error']) container.on(event, () => {})
  }

  /** Somebody wants to receive: messages of an entity, or the answers to their requests. */
  #openOutgoing(sender: Sender): void {
    const { address } = sender.source as { address: string }
    sender.set_source({ address })
    sender.set_target(sender.target)
    if (isRequestAddress(address)) return
    const entity = this.#permitted(sender, address, 'Listen')
    if (entity === undefined) return
    const link = new OutgoingLink(sender, entity, () => this.drainDelayMs)
    this.#links.add(link)
    sender.on('sender_close', () => {
      link.close()
      this.#links.delete(link)
    })
  }

  #openIncoming(receiver: Receiver): void {
    const { address } = receiver.target as { address: string }
    receiver.set_target({ address })
    if (!isRequestAddress(address)) this.#permitted(receiver, address, 'Send')
  }

  #permitted(link: Sender | Receiver, address: string, right: Right): Entity | undefined {
    const entity = this.#find(address)
    if (entity === undefined) {
      link.close({ condition: conditions.entityNotFound, description: `The messaging entity '${address}' could not be found.` })
      return undefined
    }
    if (this.#rights.get(link.connection)?.has(right)) return entity
    link.close({ condition: conditions.unauthorized, description: `Unauthorized access. '${right}' claim is required.` })
    return undefined
  }

  #receive(context: EventContext): void {
    const { message, delivery, receiver, connection } = context as Required<EventContext>
    const { address } = receiver.target as { address: string }
    if (isRequestAddress(address)) delivery.accept()
    if (address === '$cbs') this.#answer(connection, message, this.#putToken(connection, message))
    else if (isRequestAddress(address)) this.#request(address, message, connection)
    else this.#store(address, message, delivery)
  }

  #request(address: string, message: Message, connection: Connection): void {
    const entity = this.#find(address.slice(0, -managementSuffix.length))
    const operation = String(message.application_properties?.operation).replace('com.microsoft:', '')
    this.log.push(`${operation} ${entity?.name}`)
    const reply = entity === undefined ? missing : manage(entity, message)
    if (!this.#isUnanswered(operation)) this.#answer(connection, message, reply)
  }

  #putToken(connection: Connection, { body }: Message): Reply {
    const key = keyOfToken(String(body), this.#keys)
    if (key === undefined) return { status: 401, condition: conditions.unauthorized }
    this.#rights.set(connection, new Set(key.rights))
    return { status: 202 }
  }

  #store(address: string, message: Message | Buffer, delivery: Delivery): void {
    const refusal = this.#refusals.shift()
    if (refusal !== undefined) {
      delivery.reject({ condition: refusal, description: 'The test broker was asked to refuse this' })
      return
    }
    const entity = this.entity(address)
    const messages = incoming(message, delivery.format)
    this.log.push(`send ${address} ${messages.length}`)
    for (const each of messages) entity.add(each, scheduledTime(each))
    if (!this.#isUnanswered('send')) delivery.accept()
  }

  #settle({ sender, delivery }: EventContext, outcome: string): void {
    const link = [...this.#links].find((each) => each.sender === sender)
    if (link === undefined || delivery === undefined) return
    this.log.push(`settle ${link.entity.name}`)
    const isApplied = link.settle(delivery, outcome)
    if (!this.#isUnanswered('settle')) link.answer(delivery, isApplied)
  }

  #isUnanswered(operation: string): boolean {
    if (this.#unanswered[0] !== operation) return false
    this.#unanswered.shift()
    this.cut()
    return true
  }

  /** The answer goes to the link that has the address which the request names. */
  #answer(connection: Connection, request: Message, { status, body, condition }: Reply): void {
    const sender = connection.find_sender(
      ({ name, target }: Sender) =>
        name === request.reply_to || (target as { address?: string } | undefined)?.address === request.reply_to,
    )
    sender?.send({
      correlation_id: request.message_id,
      application_properties: {
        statusCode: status,
        'status-code': status,
        statusDescription: condition ?? 'OK',
        'status-description': condition ?? 'OK',
        ...(condition !== undefined && { errorCondition: condition, 'error-condition': condition }),
      },
      body: body ?? '',
    } as Message)
  }

  #find(address: string): Entity | undefined {
    const [, name, isDead] = /^(.*?)(\/\$DeadLetterQueue)?$/.exec(address) ?? []
    const entity = this.#entities.get(name as string) ?? (this.#options.entities ? undefined : this.#make(name as string))
    return isDead === undefined ? entity : (entity?.deadLetters ?? undefined)
  }

  #make(name: string): Entity {
    const settings = { ...defaults, ...this.#options.settings, ...this.#options.entities?.[name] }
    const entity = new Entity(name, settings, this.#clock)
    this.#entities.set(name, entity)
    return entity
  }
}

const managementSuffix = '/$management'
const missing: Reply = { status: 404, condition: conditions.entityNotFound }

function isRequestAddress(address: string): boolean {
  return address === '$cbs' || address.endsWith(managementSuffix)
}
