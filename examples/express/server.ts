import express from 'express'
import { jobs } from 'treadle'
import { dashboard } from 'treadle/dashboard'
import { sendWelcome } from './jobs/send-welcome.ts'

const app = express()
app.use(express.json())

app.post('/signup', async (request, response) => {
  const run = await sendWelcome.dispatch({ email: String(request.body?.email) })
  response.status(202).json({ id: run.id }) // the job is on disk; a worker runs it
})

const shown = dashboard(jobs, {
  basePath: '/admin/jobs',
  // Your own login decides here; null refuses access.
  authorize: () => (process.env.NODE_ENV === 'production' ? null : { role: 'operate', user: 'developer' }),
})
app.use('/admin/jobs', shown.node)

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => console.log('listening'))

async function stop() {
  await shown.close()
  await new Promise((closed) => server.close(closed))
  await jobs.close()
}
process.once('SIGTERM', stop)
process.once('SIGINT', stop)
