import fastify from 'fastify'
import { jobs } from 'treadle'
import { dashboard } from 'treadle/dashboard'
import { sendWelcome } from './jobs/send-welcome.ts'

const app = fastify()

app.post<{ Body: { email: string } }>('/signup', async (request, reply) => {
  const run = await sendWelcome.dispatch({ email: request.body.email })
  return reply.code(202).send({ id: run.id }) // the job is on disk; a worker runs it
})

const shown = dashboard(jobs, {
  basePath: '/admin/jobs',
  // Your own login decides here; null refuses access.
  authorize: () => (process.env.NODE_ENV === 'production' ? null : { role: 'operate', user: 'developer' }),
})
app.register(async (scope) => {
  // The dashboard reads the bodies of its requests itself.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
  scope.all('/admin/jobs*', async (request, reply) => {
    reply.hijack()
    await shown.node(request.raw, reply.raw)
  })
})

// Requests that are being answered may still dispatch: the queue is closed after them.
app.addHook('preClose', () => shown.close())
app.addHook('onClose', () => jobs.close())
process.once('SIGTERM', () => app.close())
process.once('SIGINT', () => app.close())

await app.listen({ port: Number(process.env.PORT ?? 3000), host: '127.0.0.1' })
console.log('listening')
