import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { startChild } from '../processes.mjs'
import { percentile } from './statistics.mjs'
import { instant } from './time.mjs'

/**
 * From the call of dispatch to the first line of the handler, one job at a time, with a worker that has nothing else to do.
 * The pause before each is random and reaches over a whole polling interval, so that a poller is met at any point of it.
 */
export async function measure({ open, place, contestant, from, samples, warmUp, longestPauseMs }) {
  const latencies = []
  let arrived = () => {}
  const queue = await open(place, async ({ sentAt }) => {
    latencies.push(instant() - sentAt)
    arrived()
  })
  const sender = from === 'another process' ? await otherProcess(place, contestant) : thisProcess(queue)
  await queue.work()
  while (latencies.length < warmUp + samples) {
    await pause(Math.random() * longestPauseMs)
    const arrival = new Promise((resolve) => {
      arrived = resolve
    })
    await sender.send()
    await arrival
  }
  await sender.close()
  await queue.close()
  const measured = latencies.slice(warmUp)
  return { p50: percentile(measured, 50), p99: percentile(measured, 99) }
}

function thisProcess(queue) {
  return { send: () => queue.add({ sentAt: instant() }), close() {} }
}

async function otherProcess(place, contestant) {
  const child = startChild('measure/sender.mjs', { place, contestant })
  await once(child, 'message')
  return {
    send: () => child.send('send'),
    async close() {
      const exited = once(child, 'exit')
      child.disconnect()
      await exited
    },
  }
}
