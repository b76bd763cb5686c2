import type { Framework } from './options.ts'
import { importFile, importLine, type SourceText, typed } from './source-text.ts'

/** The name of the program, without its extension. */
export function entryFile(framework: Framework): string {
  return framework === 'none' ? 'app' : 'server'
}

/** A program that dispatches jobs, either directly or for each request. */
export function entryText(source: SourceText, framework: Framework): string {
  switch (framework) {
    case 'none':
      return plainText(source)
    case 'express':
      return expressText(source)
    case 'fastify':
      return fastifyText(source)
    case 'hono':
      return honoText(source)
  }
}

function plainText(source: SourceText): string {
  return `${importLine(source, '{ jobs }', 'treadle')}
${importFile(source, '{ hello }', './jobs/hello')}

// Puts a job into the queue. A worker runs it: npm run work
async function main() {
  const run = await hello.dispatch({ name: 'Ada' })
  console.log(\`queued \${run.job} \${run.id}\`)
  await jobs.close()
}

main()
`
}

function expressText(source: SourceText): string {
  return `${importLine(source, 'express', 'express')}
${commonImports(source)}

${port}
const app = express()
app.use(express.json())

// curl -X POST localhost:3000/hello -H 'content-type: application/json' -d '{"name":"Ada"}'
app.post('/hello', async (request, response) => {
  const run = await hello.dispatch({ name: String(request.body?.name ?? 'world') })
  response.status(202).json({ id: run.id })
})

${dashboardText}
app.use('/jobs', shown.node)

app.listen(port, '127.0.0.1', () => ${listening})
`
}

function fastifyText(source: SourceText): string {
  const body = typed(source, '<{ Body: { name?: string } | undefined }>')
  return `${importLine(source, 'fastify', 'fastify')}
${commonImports(source)}

${port}
const app = fastify()

// curl -X POST localhost:3000/hello -H 'content-type: application/json' -d '{"name":"Ada"}'
app.post${body}('/hello', async (request, reply) => {
  const run = await hello.dispatch({ name: String(request.body?.name ?? 'world') })
  return reply.code(202).send({ id: run.id })
})

${dashboardText}
app.register(async (scope) => {
  // The dashboard reads the bodies of its requests itself.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
  scope.all('/jobs*', async (request, reply) => {
    reply.hijack()
    await shown.node(request.raw, reply.raw)
  })
})

app.listen({ port, host: '127.0.0.1' }).then(() => ${listening})
`
}

function honoText(source: SourceText): string {
  return `${importLine(source, '{ serve }', '@hono/node-server')}
${importLine(source, '{ Hono }', 'hono')}
${commonImports(source)}

${port}
const app = new Hono()

// curl -X POST localhost:3000/hello -H 'content-type: application/json' -d '{"name":"Ada"}'
app.post('/hello', async (c) => {
  const body = await c.req.json().catch(() => ({}))
  const run = await hello.dispatch({ name: String(body.name ?? 'world') })
  return c.json({ id: run.id }, 202)
})

${dashboardText}
app.all('/jobs', (c) => shown.fetch(c.req.raw))
app.all('/jobs/*', (c) => shown.fetch(c.req.raw))

serve({ fetch: app.fetch, port, hostname: '127.0.0.1' }, () => ${listening})
`
}

function commonImports(source: SourceText): string {
  return `${importLine(source, '{ jobs }', 'treadle')}
${importLine(source, '{ dashboard }', 'treadle/dashboard')}
${importFile(source, '{ hello }', './jobs/hello')}`
}

const port = 'const port = Number(process.env.PORT ?? 3000)'

// biome-ignore lint/suspicious/noTemplateCurlyInString: it is the text of a program
const listening = 'console.log(`listening on http://127.0.0.1:${port}, dashboard at /jobs`)'

const dashboardText = `// Replace this with your own login before anybody else can reach the server: null means no access.
const isDevelopment = process.env.NODE_ENV !== 'production'
const shown = dashboard(jobs, {
  basePath: '/jobs',
  authorize: () => (isDevelopment ? { role: 'operate', user: 'developer' } : null),
})`
