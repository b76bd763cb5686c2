import type { PageEnd, PageRequest, Transfer } from '../../queue/contract/transfer.ts'
import type { BrokerBacklog } from './broker-backlog.ts'

/**
 * Moves the jobs in the broker with those in the store: each pass over the queue begins by moving the backlog into the store.
 * Dead letters stay in the broker and are reported.
 */
export function coordinatedTransfer(transfer: Transfer, backlog: BrokerBacklog): Transfer {
  const withBacklog = async <Answer extends PageEnd>(request: PageRequest, ask: () => Promise<Answer>): Promise<Answer> => {
    if (request.after === null) await backlog.takeAll(request.queue)
    const answer = await ask()
    if (answer.after !== null) return answer
    return { ...answer, unreadable: [...answer.unreadable, ...(await backlog.deadLetters(request.queue))] }
  }
  return {
    identity: () => transfer.identity(),
    pack: (request) => withBacklog(request, () => transfer.pack(request)),
    read: (request) => withBacklog(request, () => transfer.read(request)),
    parcels: () => transfer.parcels(),
    parcel: (id) => transfer.parcel(id),
    // A job that arrives may have the id of one in the broker.
    unpack: async (parcel) => {
      await backlog.show()
      return transfer.unpack(parcel)
    },
    close: (id, returned) => transfer.close(id, returned),
    facts: (request) => transfer.facts(request),
    learn: (facts) => transfer.learn(facts),
  }
}
