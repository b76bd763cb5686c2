import { resolve } from 'node:path'
import type { Command } from 'commander'
import { messageOf, TreadleError } from '../../core/errors.ts'
import { createKeyFile, existingKeys, keyFileText, newKey, readKeyFile, replaceKeys } from '../../envelope/key-file.ts'
import type { SigningKey } from '../../envelope/key-ring.ts'
import { type KeyScope, scopeProblem, scopeText } from '../../envelope/key-scope.ts'
import { examples } from '../examples.ts'
import { UsageError } from '../failure.ts'
import { type KeyUsage, keyUsage } from '../key-usage.ts'
import { keysJson, keysText } from '../output/keys.ts'
import { plural, visibleLine } from '../output/text.ts'
import { type ProjectSession, withProject } from '../session.ts'
import { collect } from '../values.ts'

interface FileOptions {
  readonly file?: string
}

interface ScopeOptions extends FileOptions {
  readonly queue?: readonly string[]
  readonly job?: readonly string[]
}

/** A file of keys, and the queue whose jobs they sign. */
interface KeySession extends ProjectSession {
  readonly file: string
}

export function addKeys(program: Command): void {
  const keys = program
    .command('keys')
    .summary('list, make, change and retire the keys that sign jobs')
    .description(
      'Without a command it lists the keys of the key file: which of them sign, what they are limited to, and how many living jobs they have signed. Secrets are never printed but by "keys export". Programs read the file when they start.',
    )
    .usage('[command] [options]')
    .option('--file <path>', 'the key file (default: the one beside the SQLite file, such as jobs.db.key)')
    .addHelpText(
      'after',
      examples(
        ['keys', ''],
        ['keys add', 'the first step of a rotation: all programs learn to verify a new key'],
        ['keys sign k-3f9a1c2b', 'the second step: sign with it'],
        ['keys retire k-90ab12cd', 'the last step, when no living job needs the old one'],
      ),
    )
    .action((_: FileOptions, command: Command) => list(command))
  addCreate(keys)
  addAdd(keys)
  addSign(keys)
  addRetire(keys)
  addExport(keys)
}

function addCreate(keys: Command): void {
  scopeOptions(keys.command('create'))
    .summary('make a key file with a new key')
    .description(
      'For a queue on a database server: give the file to all programs, as TREADLE_SIGNING_KEY_FILE. SQLite makes its own.',
    )
    .addHelpText('after', examples(['keys create', ''], ['keys create --file /etc/app/treadle.key', '']))
    .action((options: ScopeOptions, command: Command) =>
      withKeys(command, async ({ file, out }) => {
        const scope = scopeOf(options)
        if (readKeyFile(file) !== undefined) throw new TreadleError('KEY_INVALID', `There is a key file at ${file} already`)
        const [key] = createKeyFile(file, scope) as readonly [SigningKey]
        out.answer({ file, id: key.id }, () => `created ${visibleLine(file)} with the key ${key.id}`)
      }),
    )
}

function addAdd(keys: Command): void {
  scopeOptions(keys.command('add'))
    .summary('add a new key')
    .description(
      'Adds a new key behind the others: it is verified, and signs nothing before "keys sign", so that all programs can learn of it first.',
    )
    .option('--sign', 'put it in front of the others: programs that start from now on sign with it')
    .addHelpText(
      'after',
      examples(['keys add', ''], ['keys add --queue mail,reports', ''], [`keys add --job 'mail-*' --sign`, 'limited, and signs']),
    )
    .action((options: ScopeOptions & { readonly sign?: boolean }, command: Command) =>
      withKeys(command, async ({ file, out }) => {
        const before = existingKeys(file)
        const key = newKey(scopeOf(options))
        replaceKeys(file, before, options.sign ? [key, ...before] : [...before, key])
        const limits = scopeText(key)
        const what = `added the key ${key.id}${limits === '' ? '' : `, limited to ${limits}`}`
        const next = options.sign
          ? 'programs sign with it when they have started again'
          : `"treadle keys sign ${key.id}" lets it sign`
        out.answer({ file, id: key.id, signs: options.sign ?? false }, () => `${what}; ${next}`)
      }),
    )
}

function addSign(keys: Command): void {
  keys
    .command('sign')
    .summary('sign with this key from now on')
    .description(
      'Puts a key in front of the others. All programs must have started since it was added: others would refuse its jobs.',
    )
    .argument('<id>', 'the id of the key')
    .addHelpText('after', examples(['keys sign k-3f9a1c2b', '']))
    .action((id: string, _: unknown, command: Command) =>
      withKeys(command, async ({ file, out }) => {
        const before = existingKeys(file)
        const key = keyOf(id, before, file)
        replaceKeys(file, before, [key, ...before.filter((other) => other !== key)])
        out.answer({ file, id, signs: true }, () => `${id} signs; programs use it when they have started again`)
      }),
    )
}

function addRetire(keys: Command): void {
  keys
    .command('retire')
    .summary('take a key out of the key file')
    .description(
      'Refuses while living jobs are signed with the key: they would be dead. Dead jobs that it signed cannot be replayed.',
    )
    .argument('<id>', 'the id of the key')
    .option('--force', 'also while living jobs need it, or where that cannot be known')
    .addHelpText('after', examples(['keys retire k-90ab12cd', '']))
    .action((id: string, { force = false }: { readonly force?: boolean }, command: Command) =>
      withKeys(command, async (session) => {
        const { file, out } = session
        const before = existingKeys(file)
        const key = keyOf(id, before, file)
        const after = before.filter((other) => other !== key)
        if (after.length === 0)
          throw new TreadleError('KEY_INVALID', `${id} is the only key: run "treadle keys add --sign" first`)
        if (!force) refuseNeeded(id, await usageOf(session))
        replaceKeys(file, before, after)
        out.answer({ file, id, retired: true }, () => `retired ${id}; programs forget it when they have started again`)
      }),
    )
}

function addExport(keys: Command): void {
  keys
    .command('export')
    .summary('print keys with their secrets, as lines of a key file')
    .argument('[id]', 'this key alone')
    .addHelpText('after', examples(['keys export > treadle.key', 'for another machine; chmod 600 it']))
    .action((id: string | undefined, _: unknown, command: Command) =>
      withKeys(command, async ({ file, out }) => {
        const all = existingKeys(file)
        const chosen = id === undefined ? all : [keyOf(id, all, file)]
        out.answer({ file, keys: chosen }, () => keyFileText(chosen).trimEnd())
      }),
    )
}

function list(command: Command): Promise<void> {
  return withKeys(command, async (session) => {
    const { file, out } = session
    const keys = existingKeys(file)
    const usage = await usageOf(session)
    out.answer(keysJson(file, keys, usage), () => keysText(keys, usage, out))
  })
}

function scopeOptions(command: Command): Command {
  return command
    .option('--queue <queues>', 'limit it to these queues; names or patterns with *, separated by commas', collect)
    .option('--job <jobs>', 'limit it to these jobs; names or patterns with *, separated by commas', collect)
}

function scopeOf({ queue, job }: ScopeOptions): KeyScope {
  const scope = { ...(queue && { queues: queue }), ...(job && { jobs: job }) }
  const problem = scopeProblem(scope)
  if (problem !== undefined) throw new UsageError(problem)
  return scope
}

/** Nothing here makes or changes a database, or needs a config where the file is named. */
function withKeys(command: Command, run: (session: KeySession) => Promise<void>): Promise<void> {
  const { file } = command.optsWithGlobals<FileOptions>()
  const open = { changes: { migrate: false }, ...(file !== undefined && { needsNoConfig: true as const }) }
  const act = (session: ProjectSession) => {
    const path = file === undefined ? session.project.keyFile : resolve(process.cwd(), file)
    if (path !== null) return run({ ...session, file: path })
    const message = `${session.project.url} has no key file of its own. Give --file PATH, and its programs TREADLE_SIGNING_KEY_FILE=PATH.`
    throw new UsageError(message)
  }
  return withProject(command, act, open)
}

/** Null where nobody can tell, and then it is said why. */
async function usageOf({ project, jobs, file, out }: KeySession): Promise<KeyUsage | null> {
  if (project.missingFile !== null) return project.keyFile === file ? { signed: new Map(), unsigned: 0, isPartial: false } : null
  try {
    return await keyUsage(await jobs.store())
  } catch (thrown) {
    out.note(`note: the jobs cannot be looked at: ${visibleLine(messageOf(thrown))}`)
    return null
  }
}

function keyOf(id: string, keys: readonly SigningKey[], file: string): SigningKey {
  const found = keys.find((key) => key.id === id)
  if (found !== undefined) return found
  throw new TreadleError('KEY_UNKNOWN', `There is no key ${id} in ${file}. It has ${keys.map((key) => key.id).join(', ')}.`)
}

function refuseNeeded(id: string, usage: KeyUsage | null): void {
  if (usage === null || usage.isPartial) {
    const message = `It is not known whether living jobs are signed with ${id}. Give --url of the queue, or --force.`
    throw new TreadleError('KEY_INVALID', message)
  }
  const needed = usage.signed.get(id) ?? 0
  if (needed === 0) return
  const message = `${plural(needed, 'living job')} signed with ${id} would be refused. Wait until they have ended, or give --force.`
  throw new TreadleError('KEY_INVALID', message)
}
