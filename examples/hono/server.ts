import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { jobs } from 'treadle'
import { dashboard } from 'treadle/dashboard'
import { sendWelcome } from './jobs/send-welcome.ts'

const app = new Hono()

app.post('/signup', async (c) => {
  const { email } = await c.req.json<{ email: string }>()
  const run = await sendWelcome.dispatch({ email })
  return c.json({ id: run.id }, 202) // the job is on disk; a worker runs it
})

const shown = dashboard(jobs, {
  basePath: '/admin/jobs',
  // Your own login decides here; null refuses access.
  authorize: () => (process.env.NODE_ENV === 'production' ? null : { role: 'operate', user: 'developer' }),
})
app.all('/admin/jobs', (c) => shown.fetch(c.req.raw))
app.all('/admin/jobs/*', (c) => shown.fetch(c.req.raw))

const server = serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 3000), hostname: '127.0.0.1' }, () =>
  console.log('listening'),
)

async function stop() {
  await shown.close()
  await new Promise((closed) => server.close(closed))
  await jobs.close()
}
process.once('SIGTERM', stop)
process.once('SIGINT', stop)
