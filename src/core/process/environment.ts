import { homedir, hostname } from 'node:os'

/** This module is the only place where the library touches its process; signals are in `worker/loop/signals.ts`. */

export function environmentVariable(name: string): string | undefined {
  const value = process.env[name]
  return value === undefined || value === '' ? undefined : value
}

export function workingFolder(): string {
  return standInFolder ?? process.cwd()
}

let standInFolder: string | undefined

/** Uses another working folder while loading: a thread cannot change that of its process. */
export async function inFolder<Loaded>(folder: string, load: () => Promise<Loaded>): Promise<Loaded> {
  standInFolder = folder
  try {
    return await load()
  } finally {
    standInFolder = undefined
  }
}

/** The script that Node was started with; undefined if there is none. */
export function mainScript(): string | undefined {
  return process.argv[1]
}

export function processId(): number {
  return process.pid
}

export function nodeVersion(): string {
  return process.versions.node
}

/** The Node executable of this process, for handlers that start another Node. */
export function nodeBinary(): string {
  return process.execPath
}

/** Suppresses Node's experimental warning for a built-in module that Treadle chose and tests. */
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
 * Sends the signal to every process of the group led by `pid`; signal 0 only checks whether there is one. Returns false if there
 * was no such process. Windows has no process groups, so there it reaches only the leader.
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

/** Whether that process still exists and is the parent of this one. Windows never changes the parent of a process. */
export function isParent(pid: number): boolean {
  if (process.ppid !== pid) return false
  return process.platform !== 'win32' || signalProcessGroup(pid, 0)
}

/** Resident memory of this process, including all its threads. */
export function ownMemoryBytes(): number {
  return process.memoryUsage.rss()
}

/** Kills this process immediately, along with the process group it leads, if any. */
export function endOwnProcess(): void {
  if (!signalProcessGroup(process.pid, 'SIGKILL')) process.kill(process.pid, 'SIGKILL')
}

const exitHooks = new Set<() => void>()

/** Calls the hook when the program exits by itself. Returns a function that removes the hook. */
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

/** The user id of this process; undefined if the system has no user ids. */
export function processUser(): number | undefined {
  return process.geteuid?.()
}

export function homeFolder(): string {
  return homedir()
}
