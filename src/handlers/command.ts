import { open, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { TreadleError } from '../core/errors.ts'
import { nodeBinary } from '../core/process/environment.ts'
import { permanent } from './permanent.ts'
import { type Argv, type ProgramHandler, type ProgramOptions, programHandler } from './program.ts'

/**
 * Runs a Node program of the project with the worker's version of Node: a script, `command(['scripts/report.js', '--daily'])`, or
 * a program that a package provides, `command(['tsc', '--noEmit'])`. A name with a slash or with a JavaScript or TypeScript
 * extension is a script, relative to `cwd`. Any other name is looked up in `node_modules/.bin` of `cwd` and its parent folders.
 *
 * Everything else works as with `shell`: no shell is involved, the environment is minimal, an abort ends all processes, and the
 * job runs only on queues whose allowlist names it.
 */
export function command<Payload = unknown>(argv: Argv<Payload>, options: ProgramOptions = {}): ProgramHandler<Payload> {
  return programHandler('command', argv, options, async ([program, ...args], cwd) => [
    nodeBinary(),
    await scriptOf(program as string, cwd),
    ...args,
  ])
}

async function scriptOf(program: string, cwd: string): Promise<string> {
  const isPath = /[\\/]/.test(program) || scriptExtension.test(program)
  const script = isPath ? await existing(resolve(cwd, program)) : await packageProgram(program, cwd)
  if (script !== undefined) return script
  const advice = isPath
    ? 'Check the path and the option "cwd".'
    : `Install the package that brings it, or write "./${program}" for a script.`
  throw permanent(new TreadleError('PROGRAM_FAILED', `command: "${program}" was not found from ${cwd}. ${advice}`))
}

const scriptExtension = /\.[cm]?[jt]s$/

async function packageProgram(name: string, cwd: string): Promise<string | undefined> {
  for (let folder = cwd; ; folder = dirname(folder)) {
    const entry = await existing(join(folder, 'node_modules', '.bin', name))
    if (entry !== undefined) return await nodeProgram(name, entry)
    if (dirname(folder) === folder) return undefined
  }
}

/** The JavaScript file behind an entry of `.bin`: the target of the link, or the file that the launcher script starts. */
async function nodeProgram(name: string, entry: string): Promise<string> {
  const file = await realpath(entry)
  const beginning = await firstBytes(file)
  const launched = /"\$basedir\/([^"]+)" +"\$@"/.exec(beginning)?.[1]
  const target =
    beginning.startsWith('#!/bin/sh') && launched !== undefined ? await existing(join(dirname(entry), launched)) : undefined
  if (target !== undefined) return target
  if (/^#!.*\bnode\b/.test(beginning) || (!beginning.startsWith('#!') && scriptExtension.test(file))) return file
  const message = `command: "${name}" is not a Node program (${file}). Run it with shell() instead.`
  throw permanent(new TreadleError('PROGRAM_FAILED', message))
}

async function existing(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() ? path : undefined
}

/** The first bytes suffice, because launcher scripts are short. */
async function firstBytes(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4_096), 0, 4_096, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}
