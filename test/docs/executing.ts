import { spawn } from 'node:child_process'

/** How a process ended, and what it printed. */
export interface Executed {
  readonly stdout: string
  readonly stderr: string
  /** The exit code, or the signal that ended it. */
  readonly exit: number | string | null
}

const patienceMs = 150_000

/** Runs a program to its end, or until it has printed what it is to be stopped after. */
export function execute(
  command: string,
  args: readonly string[],
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
  stopAfter: string | undefined,
): Promise<Executed> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
    const patience = setTimeout(() => child.kill('SIGKILL'), patienceMs)
    let stdout = ''
    let stderr = ''
    let stopped = false
    const look = () => {
      if (stopAfter === undefined || stopped || !`${stdout}${stderr}`.includes(stopAfter)) return
      stopped = true
      child.kill('SIGINT')
    }
    child.stdout.on('data', (chunk) => {
      stdout += chunk
      look()
    })
    child.stderr.on('data', (chunk) => {
      stderr += chunk
      look()
    })
    child.on('error', reject)
    child.on('close', (code, signal) => {
      clearTimeout(patience)
      resolve({ stdout, stderr, exit: signal ?? code })
    })
  })
}
