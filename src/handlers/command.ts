import { open, realpath, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { TreadleError } from '../core/errors.ts'
import { nodeBinary } from '../core/process/environment.ts'
import { permanent } from './permanent.ts'
import { type Argv, type ProgramHandler, type ProgramOptions, programHandler } from './program.ts'

/**
 * Runs a Node program of the project with the Node that runs the worker: a script, `command(['scripts/report.js', '--daily'])`, or
 * a program that a package brings, `command(['tsc', '--noEmit'])`. What has a slash or a JavaScript or TypeScript extension is a
 * script, relative to `cwd`; any other name is looked up in `node_modules/.bin` of `cwd` and of the folders above it.
 *
 * All else is as with `shell`: no shell, a small environment, ended as a whole, and only where an allowlist names the job.
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

/** The JavaScript behind an entry of `.bin`: the file that it links to, or the one that its launcher script starts. */
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

/** A launcher script is short: whatever matters of one is at its beginning. */
async function firstBytes(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(4_096), 0, 4_096, 0)
    return buffer.toString('latin1', 0, bytesRead)
  } finally {
    await file.close()
  }
}
