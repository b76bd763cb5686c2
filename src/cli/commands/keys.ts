import { resolve } from 'node:path'
import type { Command } from 'commander'
import { messageOf, TreadleError } from '../../core/errors.ts'
import { createKeyFile, existingKeys, keyFileText, newKey, readKeyFile, replaceKeys } from '../../envelope/keys/key-file.ts'
import type { SigningKey } from '../../envelope/keys/key-ring.ts'
import { type KeyScope, scopeProblem, scopeText } from '../../envelope/keys/key-scope.ts'
import { examples } from '../examples.ts'
import { UsageError } from '../failure.ts'
import { type KeyUsage, keyUsage, noNeeds } from '../jobs/key-usage.ts'
import { keysJson, keysText, needsText } from '../output/keys.ts'
import { visibleLine } from '../output/text.ts'
import { type ProjectSession, withProject } from '../session.ts'
import { collect } from '../values.ts'

interface FileOptions {
  readonly file?: string
}

interface ScopeOptions extends FileOptions {
  readonly queue?: readonly string[]
  readonly job?: readonly string[]
}

/** A key file, and the queue whose jobs its keys sign. */
interface KeySession extends ProjectSession {
  readonly file: string
}

export function addKeys(program: Command): void {
  const keys = program
    .command('keys')
    .summary('list, create, rotate and retire signing keys')
    .description(
      'Without a subcommand it lists the keys in the key file: which of them signs, what they are limited to, and how many unfinished jobs, stored schedules and results need them. Secrets are only printed by "keys export". Programs read the file when they start.',
    )
    .usage('[command] [options]')
    .option('--file <path>', 'the key file (default: the one beside the SQLite file, such as jobs.db.key)')
    .addHelpText(
      'after',
      examples(
        ['keys', ''],
        ['keys add', 'rotation, step 1: let all programs verify a new key'],
        ['keys sign k-3f9a1c2b', 'step 2: sign with it'],
        ['keys retire k-90ab12cd', 'step 3, when no unfinished job needs the old key'],
      ),
    )
    .action((_: FileOptions, command: Command) => list(command))
  addList(keys)
  addCreate(keys)
  addAdd(keys)
  addSign(keys)
  addRetire(keys)
  addExport(keys)
}

function addList(keys: Command): void {
  keys
    .command('list')
    .summary('list the keys, like "keys" without a command')
    .action((_: FileOptions, command: Command) => list(command))
}

function addCreate(keys: Command): void {
  scopeOptions(keys.command('create'))
    .summary('create a key file with a new key')
    .description(
      'For a queue on a database server: give all programs this file as TREADLE_SIGNING_KEY_FILE. A SQLite queue creates its own.',
    )
    .addHelpText('after', examples(['keys create', ''], ['keys create --file /etc/app/treadle.key', '']))
    .action((options: ScopeOptions, command: Command) =>
      withKeys(command, async ({ file, out }) => {
        const scope = scopeOf(options)
        if (readKeyFile(file) !== undefined) throw new TreadleError('KEY_INVALID', `${file} already exists`)
        const [key] = createKeyFile(file, scope) as readonly [SigningKey]
        out.answer({ file, id: key.id }, () => `created ${visibleLine(file)} with the key ${key.id}`)
      }),
    )
}

function addAdd(keys: Command): void {
  scopeOptions(keys.command('add'))
    .summary('add a new key')
    .description(
      'Adds a new key at the end of the list: it verifies jobs but does not sign any until "keys sign", which gives all programs time to load it.',
    )
    .option('--sign', 'make it the signing key at once, for programs that start from now on')
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
        const next = options.sign ? 'restart programs to sign with it' : `"treadle keys sign ${key.id}" makes it sign`
        out.answer({ file, id: key.id, signs: options.sign ?? false }, () => `${what}; ${next}`)
      }),
    )
}

function addSign(keys: Command): void {
  keys
    .command('sign')
    .summary('sign with this key from now on')
    .description(
      'Makes a key the signing key. Restart all programs after adding it and before this step: a program without the key rejects its jobs.',
    )
    .argument('<id>', 'the id of the key')
    .addHelpText('after', examples(['keys sign k-3f9a1c2b', '']))
    .action((id: string, _: unknown, command: Command) =>
      withKeys(command, async ({ file, out }) => {
        const before = existingKeys(file)
        const key = keyOf(id, before, file)
        replaceKeys(file, before, [key, ...before.filter((other) => other !== key)])
        out.answer({ file, id, signs: true }, () => `${id} signs from now on; restart programs to use it`)
      }),
    )
}

function addRetire(keys: Command): void {
  keys
    .command('retire')
    .summary('remove a key from the key file')
    .description(
      'Refuses while something needs the key: unfinished jobs, stored schedules, and results that jobs wait for or idempotency keys keep. Dead jobs signed with it can no longer be replayed.',
    )
    .argument('<id>', 'the id of the key')
    .option('--force', 'even if something needs it, or if that cannot be checked')
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
        out.answer({ file, id, retired: true }, () => `retired ${id}; restart programs to drop it`)
      }),
    )
}

function addExport(keys: Command): void {
  keys
    .command('export')
    .summary('print keys and their secrets, in the format of a key file')
    .argument('[id]', 'only this key')
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
    .option('--queue <queues>', 'limit it to these queues: comma-separated names or patterns with *', collect)
    .option('--job <jobs>', 'limit it to these jobs: comma-separated names or patterns with *', collect)
}

function scopeOf({ queue, job }: ScopeOptions): KeyScope {
  const scope = { ...(queue && { queues: queue }), ...(job && { jobs: job }) }
  const problem = scopeProblem(scope)
  if (problem !== undefined) throw new UsageError(problem)
  return scope
}

/** Never creates or changes a database, and needs no config if the file is given. */
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

/** Null if it cannot be determined. If the jobs cannot be read, prints why. */
async function usageOf({ project, jobs, file, out }: KeySession): Promise<KeyUsage | null> {
  if (project.missingFile !== null)
    return project.keyFile === file ? { needs: new Map(), unsigned: noNeeds, isPartial: false } : null
  try {
    return await keyUsage((await jobs.served({ looksOnly: true })).backend)
  } catch (thrown) {
    out.note(`note: the jobs cannot be read: ${visibleLine(messageOf(thrown))}`)
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
    const message = `Cannot tell whether unfinished jobs are signed with ${id}. Give the --url of the queue, or use --force.`
    throw new TreadleError('KEY_INVALID', message)
  }
  const needed = needsText(usage.needs.get(id) ?? noNeeds)
  if (needed.length === 0) return
  const message = `${id} is still needed: without it, ${needed.join(', and ')}. Use --force to retire it anyway.`
  throw new TreadleError('KEY_INVALID', message)
}
