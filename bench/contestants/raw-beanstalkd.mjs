// The client that Treadle uses, one connection and one tube, commands in pipelines of 500, no queue around it: the ceiling.
import { deleteJob, put, reserve } from '../../build/engines/beanstalkd/connection/commands.js'
import { Session } from '../../build/engines/beanstalkd/connection/session.js'

const pipelined = 500
const settings = { pri: 65_536, delay: 0, ttr: 30 }

/** @type {import('./contestant.mjs').Open} */
export async function openRawBeanstalkd(url) {
  const { hostname, port, pathname } = new URL(url)
  const session = await Session.open({ host: hostname, port: Number(port) }, { timeoutMs: 10_000 })
  const tube = `raw-${pathname.slice(1)}`
  await Promise.all([session.use(tube), session.watch(new Set([tube]))])
  // The connection of an idle client does not keep its process alive.
  const staying = setInterval(() => {}, 60_000)
  const send = (payload) => put(session, settings, JSON.stringify(payload))
  return {
    add: send,
    async addMany(payloads) {
      for (let from = 0; from < payloads.length; from += pipelined) {
        await Promise.all(payloads.slice(from, from + pipelined).map(send))
      }
    },
    async drain(_, count) {
      for (let left = count; left > 0; ) {
        const jobs = await Promise.all(Array.from({ length: Math.min(pipelined, left) }, () => reserve(session)))
        const reserved = jobs.filter((job) => job !== null)
        await Promise.all(reserved.map(({ serverId }) => deleteJob(session, serverId)))
        left -= reserved.length
      }
    },
    close: () => {
      clearInterval(staying)
      session.destroy()
    },
  }
}
