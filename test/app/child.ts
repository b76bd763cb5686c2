import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

export interface Ended {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export interface ScriptOptions {
  /** A folder of its own by default. */
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  /** Called for each piece of output, with the means to send the process a signal. */
  readonly onOutput?: (out: string, kill: (signal: NodeJS.Signals) => void) => void
}

/** Runs a module in a process of its own, with `treadle` as the built library. It has to end by itself. */
export function runScript(script: string, { cwd, env = {}, onOutput }: ScriptOptions = {}): Promise<Ended> {
  const library = new URL('../../dist/index.js', import.meta.url).href
  const text = script.replaceAll("'treadle'", JSON.stringify(library))
  const {
    TREADLE_URL: _url,
    TREADLE_SIGNING_KEY: _key,
    TREADLE_UNSIGNED: _unsigned,
    NODE_ENV: _environment,
    ...inherited
  } = process.env
  const folder = mkdtempSync(join(tmpdir(), 'treadle-script-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'program.mjs')
  writeFileSync(file, text)
  const child = spawn(process.execPath, [file], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...inherited, ...env },
    cwd: cwd ?? folder,
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    out += piece
    onOutput?.(out, (signal) => child.kill(signal))
  })
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    err += piece
  })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, out, err }))
  })
}
