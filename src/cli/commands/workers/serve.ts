import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { messageOf } from '../../../core/errors.ts'
import { readPrivateFile } from '../../../core/files/private-file.ts'
import type { ServerToken } from '../../../server/access/server-token.ts'
import { parseTokenFile } from '../../../server/access/token-file.ts'
import type { JobServer } from '../../../server/serve.ts'
import { type ServeOptions, serveConfig } from '../../../server/serve-options.ts'
import type { WorkOptions } from '../../../worker/options.ts'
import { examples } from '../../examples.ts'
import { exitCodes } from '../../exit-codes.ts'
import { UsageError } from '../../failure.ts'
import { type ProjectSession, withJobs } from '../../session.ts'
import { duration, wholeNumber } from '../../values.ts'
import { watchSignals } from '../../working/watched-signals.ts'
import { log, openedForWork, refuseUnworkable } from '../../working/working.ts'

interface ServeCommandOptions {
  readonly host?: string
  readonly port?: number
  readonly httpPort?: number
  readonly tcp: boolean
  readonly http: boolean
  readonly dashboard: boolean
  readonly token?: string
  readonly readToken?: string
  readonly tokenFile?: string
  readonly tlsCert?: string
  readonly tlsKey?: string
  readonly lease?: string
  readonly work?: boolean
  readonly grace?: string
}

export function addServe(program: Command): void {
  program
    .command('serve')
    .summary('start the job server, HTTP API and dashboard')
    .description(
      'Serves the queue to other programs until SIGTERM or Ctrl-C: the Bedrock protocol over TCP, for nc and Bedrock clients; an HTTP API, described at /api/v1/openapi.json; and the dashboard. Jobs created over the wire and jobs of this project are the same jobs.\n\nIt listens on 127.0.0.1 only; any other address requires a token. Tokens can also be set as TREADLE_TOKEN, TREADLE_READ_TOKEN and TREADLE_TOKEN_FILE, which other users of the machine cannot see. The roles in a token file are read, work, operate and admin; only its owner may be able to read the file.',
    )
    .option('--host <address>', 'the address to listen on (default: 127.0.0.1)')
    .option('--port <port>', 'port of the TCP protocol (default: 8888)', wholeNumber(0, 65_535))
    .option('--http-port <port>', 'port of the HTTP API and dashboard (default: 8080)', wholeNumber(0, 65_535))
    .option('--no-tcp', 'disable the TCP protocol')
    .option('--no-http', 'disable the HTTP API')
    .option('--no-dashboard', 'disable the dashboard')
    .option('--token <token>', 'the token that clients must send')
    .option('--read-token <token>', 'a token for read-only clients')
    .option('--token-file <file>', 'more tokens, one per line: role secret [queues=a,b] [jobs=pattern]')
    .option('--tls-cert <file>', 'a certificate (PEM), to use TLS on both ports')
    .option('--tls-key <file>', 'its key (PEM)')
    .option('--lease <duration>', 'how long a TCP client may hold a job (default: 1h)', duration)
    .option('--work', 'also run the jobs of this project and follow its schedules')
    .option('--grace <duration>', 'with --work: how long to wait for running jobs on shutdown (default: 30s)', duration)
    .addHelpText(
      'after',
      examples(
        ['serve', ''],
        ['serve --work', 'everything in one process'],
        ['serve --port 0 --http-port 0 --json', 'any free ports, printed as JSON'],
        ['serve --host 0.0.0.0 --token "$TOKEN" --tls-cert cert.pem --tls-key key.pem', ''],
      ),
    )
    .action(serveCommand)
}

function serveCommand(options: ServeCommandOptions, command: Command): Promise<void> {
  const config = optionsOf(options)
  refuseWrong(config)
  const worker = options.grace === undefined ? {} : { grace: options.grace }
  if (options.grace !== undefined && options.work !== true) throw new UsageError('--grace needs --work')
  const run = (session: ProjectSession) => keepServing(session, config, options.work === true ? worker : null)
  return withJobs(command, run, { needsNoConfig: true })
}

/** Reports errors on the command line before anything is opened. */
function refuseWrong(options: ServeOptions): void {
  try {
    serveConfig(options)
  } catch (thrown) {
    throw new UsageError(messageOf(thrown).replace(/^[^:;]* options are invalid: /, ''))
  }
}

function optionsOf(options: ServeCommandOptions): ServeOptions {
  const { host, port, httpPort, lease, tlsCert, tlsKey } = options
  // An empty variable is none. An empty option is refused: a variable in it was not set, and everybody would be let in.
  const token = options.token ?? (process.env.TREADLE_TOKEN || undefined)
  const readToken = options.readToken ?? (process.env.TREADLE_READ_TOKEN || undefined)
  const tokenFile = options.tokenFile ?? (process.env.TREADLE_TOKEN_FILE || undefined)
  if ((tlsCert === undefined) !== (tlsKey === undefined)) throw new UsageError('--tls-cert and --tls-key go together')
  return {
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(httpPort !== undefined && { httpPort }),
    ...(!options.tcp && { port: null }),
    ...(!options.http && { httpPort: null }),
    ...(!options.dashboard && { dashboard: false }),
    ...(token !== undefined && { token }),
    ...(readToken !== undefined && { readToken }),
    ...(tokenFile !== undefined && { tokens: tokensIn(tokenFile) }),
    ...(lease !== undefined && { lease }),
    ...(tlsCert !== undefined && tlsKey !== undefined && { tls: { cert: read(tlsCert), key: read(tlsKey) } }),
  }
}

function tokensIn(file: string): readonly ServerToken[] {
  const text = readPrivateFile({ path: file, what: 'token file', code: 'CONFIG_INVALID' })
  if (text === undefined) throw new UsageError(`there is no token file ${file}`)
  return parseTokenFile(text, file)
}

function read(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (thrown) {
    throw new UsageError(`${file} cannot be read: ${messageOf(thrown)}`)
  }
}

/** Serves until it is told to stop. With worker options, also runs jobs. */
async function keepServing(session: ProjectSession, options: ServeOptions, work: WorkOptions | null): Promise<number> {
  const { jobs, out, project } = session
  const worker: WorkOptions = { ...project.worker, ...work }
  if (work !== null) refuseUnworkable(jobs, worker)
  await openedForWork(jobs)
  // Loaded only here, so that other commands start faster.
  const { serve } = await import('../../../server/serve.ts')
  const server = await serve(jobs, options)
  const stop = watchSignals(
    out,
    () => void Promise.all([jobs.stop({ abort: true }), server.stop({ graceMs: 0 })]),
    work === null ? answering : undefined,
  )
  try {
    tellStart(session, server, options, work !== null)
    if (work === null) await untilStopped(server, stop.signal)
    else {
      log(jobs, out, false)
      await jobs.work({ ...worker, signals: false, signal: stop.signal })
    }
  } finally {
    await server.stop()
  }
  out.line(out.json ? JSON.stringify({ event: 'server:stopped' }) : 'stopped')
  return stop.isAborted() ? exitCodes.interrupted : exitCodes.ok
}

const answering = 'stopping: finishing open requests; press Ctrl-C again to exit at once'

/** Rejects if only a restart helps, so that a supervisor can restart it. */
function untilStopped({ lost }: JobServer, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    void lost.then(reject)
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function tellStart({ project, out }: ProjectSession, server: JobServer, options: ServeOptions, works: boolean): void {
  const { tls } = options
  const isOpen = serveConfig(options).tokens.length === 0
  const { address, httpAddress } = server
  if (out.json) {
    out.line(
      JSON.stringify({
        event: 'server:started',
        url: project.url,
        tcp: address,
        http: httpAddress,
        dashboard: server.dashboardUrl(),
        works,
      }),
    )
    return
  }
  const scheme = tls === undefined ? 'http' : 'https'
  const lines = [
    `serving ${project.url}`,
    ...(address === null ? [] : [`  tcp        ${address.host}:${address.port}${tls === undefined ? '' : ' (TLS)'}`]),
    ...(httpAddress === null
      ? []
      : [`  http       ${scheme}://${httpAddress.host}:${httpAddress.port}/api/v1 (described at /api/v1/openapi.json)`]),
    ...dashboardLines(server.dashboardUrl(), isOpen),
    `  token      ${isOpen ? 'none: every local program and user can create jobs' : 'required'}`,
    `  worker     ${works ? 'running, and following schedules' : 'none in this process: start one with treadle work, or use serve --work'}`,
  ]
  out.line(lines.join('\n'))
}

function dashboardLines(url: string | null, isOpen: boolean): readonly string[] {
  return url === null ? [] : [`  dashboard  ${url}${isOpen ? '' : '  (signs you in once, within ten minutes)'}`]
}
