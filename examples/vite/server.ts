import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { jobs } from 'treadle'
import { dashboard } from 'treadle/dashboard'
import { sendWelcome } from './jobs/send-welcome.ts'

const shown = dashboard(jobs, {
  basePath: '/admin/jobs',
  // Your own login decides here; null refuses access.
  authorize: () => (process.env.NODE_ENV === 'production' ? null : { role: 'operate', user: 'developer' }),
})

const server = createServer(async (request, response) => {
  if (request.url?.startsWith('/admin/jobs')) return shown.node(request, response)
  const { email } = JSON.parse(await text(request))
  const run = await sendWelcome.dispatch({ email })
  response.writeHead(202, { 'content-type': 'application/json' }).end(JSON.stringify({ id: run.id }))
})
server.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log('listening'))

async function stop() {
  await shown.close()
  await new Promise((closed) => server.close(closed))
  await jobs.close()
}
process.once('SIGTERM', stop)
process.once('SIGINT', stop)
