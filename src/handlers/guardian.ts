import { type ChildProcess, spawn } from 'node:child_process'
import { hasProcessGroups } from '../core/process/environment.ts'

/**
 * Kills the programs that this process started if this process is itself killed. The script keeps a list of process groups, which
 * it reads from its input. It kills the remaining ones when the input ends: the operating system closes it, however this process
 * ends.
 */
const script = `trap '' TERM INT HUP QUIT
groups=' '
while read -r what group; do
  case $what in
    +) groups="$groups$group " ;;
    -) case $groups in *" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;; esac ;;
  esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done`

const shell = '/bin/sh'
const watched = new Set<number>()
let guardian: ChildProcess | undefined

/** Ensures that the process group led by `pid` is killed if this process is. Returns a function that cancels this. */
export function guard(pid: number): () => void {
  watched.add(pid)
  if (guardian === undefined) start()
  else say(`+ ${pid}`)
  return () => {
    if (watched.delete(pid)) say(`- ${pid}`)
  }
}

function start(): void {
  if (!hasProcessGroups()) return
  const started = spawn(shell, ['-c', script], { cwd: '/', env: {}, detached: true, stdio: ['pipe', 'ignore', 'ignore'] })
  guardian = started
  // If there is no shell, or it was killed, the next program starts a new one.
  const forget = () => {
    if (guardian === started) guardian = undefined
  }
  started.on('error', forget)
  started.on('exit', forget)
  started.stdin?.on('error', forget)
  started.unref()
  const input = started.stdin as (NodeJS.WritableStream & { unref?(): void }) | null
  input?.unref?.()
  for (const pid of watched) say(`+ ${pid}`)
}

function say(line: string): void {
  const input = guardian?.stdin
  if (input?.writable) input.write(`${line}\n`)
}
