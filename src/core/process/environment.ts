import { homedir, hostname } from 'node:os'

/** The only place where the library touches the process that it runs in; signals are in `worker/loop/signals.ts`. */

export function environmentVariable(name: string): string | undefined {
  const value = process.env[name]
  return value === undefined || value === '' ? undefined : value
}

export function workingFolder(): string {
  return standInFolder ?? process.cwd()
}

let standInFolder: string | undefined

/** While this is loaded, the working folder is another one: a thread cannot change that of its process. */
export async function inFolder<Loaded>(folder: string, load: () => Promise<Loaded>): Promise<Loaded> {
  standInFolder = folder
  try {
    return await load()
  } finally {
    standInFolder = undefined
  }
}

/** The file that Node was started with; undefined where there is none. */
export function mainScript(): string | undefined {
  return process.argv[1]
}

export function processId(): number {
  return process.pid
}

/** The program that runs this very process, for handlers that start another Node. */
export function nodeBinary(): string {
  return process.execPath
}

/** Keeps Node from warning its user of a built-in module that Treadle chose and tests. */
export async function withoutExperimentalWarning<Loaded>(load: () => Promise<Loaded>): Promise<Loaded> {
  const { emitWarning } = process
  process.emitWarning = ((warning: string | Error, ...rest: never[]) => {
    const isExperimental = (rest[0] as unknown) === 'ExperimentalWarning'
    if (!isExperimental) emitWarning.call(process, warning, ...rest)
  }) as typeof process.emitWarning
  try {
    return await load()
  } finally {
    process.emitWarning = emitWarning
  }
}

/**
 * Sends the signal to every process of the group that `pid` leads; signal 0 only asks whether there is one. False when nothing was
 * reached. Windows has no process groups: there it reaches the leader alone.
 */
export function signalProcessGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(process.platform === 'win32' ? pid : -pid, signal)
  } catch {
    return false
  }
}

export function hasProcessGroups(): boolean {
  return process.platform !== 'win32'
}

/** Whether that process is still there and the parent of this one. Windows never gives a process another parent. */
export function isParent(pid: number): boolean {
  if (process.ppid !== pid) return false
  return process.platform !== 'win32' || signalProcessGroup(pid, 0)
}

/** What the system has given to this process, with all its threads. */
export function ownMemoryBytes(): number {
  return process.memoryUsage.rss()
}

/** At once, and with it the group that it leads; one that leads none ends alone. */
export function endOwnProcess(): void {
  if (!signalProcessGroup(process.pid, 'SIGKILL')) process.kill(process.pid, 'SIGKILL')
}

const exitHooks = new Set<() => void>()

/** Calls this when the program exits, in whatever way it does that by itself. What is given back takes it back. */
export function onExit(hook: () => void): () => void {
  if (exitHooks.size === 0) process.on('exit', runExitHooks)
  exitHooks.add(hook)
  return () => {
    exitHooks.delete(hook)
    if (exitHooks.size === 0) process.off('exit', runExitHooks)
  }
}

function runExitHooks(): void {
  for (const hook of exitHooks) hook()
}

export function hostName(): string {
  return hostname()
}

/** The user that this process acts as; undefined where the system has no such numbers. */
export function processUser(): number | undefined {
  return process.geteuid?.()
}

export function homeFolder(): string {
  return homedir()
}
