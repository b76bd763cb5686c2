import type { ServiceBusClient } from '@azure/service-bus'
import { sequenceNumber } from '../../src/engines/service-bus/messages/sequence-number.ts'

type Numbers = Parameters<ReturnType<ServiceBusClient['createSender']>['cancelScheduledMessages']>[0]

/** Removes all that waits in an entity, scheduled or not, and its dead letters. */
export async function emptied(client: ServiceBusClient, entity: string): Promise<void> {
  const sender = client.createSender(entity)
  const receivers = [
    client.createReceiver(entity, { receiveMode: 'receiveAndDelete' }),
    client.createReceiver(entity, { receiveMode: 'receiveAndDelete', subQueueType: 'deadLetter' }),
  ]
  const [waiting] = receivers
  const all = await waiting?.peekMessages(1_000, { fromSequenceNumber: sequenceNumber(0n) as Long })
  for (const { state, sequenceNumber: number } of all ?? []) {
    if (state === 'scheduled' && number !== undefined) await sender.cancelScheduledMessages(number as Numbers)
  }
  for (const receiver of receivers) {
    while ((await receiver.receiveMessages(500, { maxWaitTimeInMs: 500 })).length > 0);
    await receiver.close()
  }
  await sender.close()
}

type Long = NonNullable<
  NonNullable<Parameters<ReturnType<ServiceBusClient['createReceiver']>['peekMessages']>[1]>['fromSequenceNumber']
>
