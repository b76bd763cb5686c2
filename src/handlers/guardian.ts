import { type ChildProcess, spawn } from 'node:child_process'
import { hasProcessGroups } from '../core/process/environment.ts'

/**
 * Ends the programs that this process has started when it is killed and cannot do that itself: a shell that reads which process
 * groups there are, and kills those that are left when its input ends. The system closes that, however this process ends.
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

/** Has the group that `pid` leads killed with this process. What is given back ends that. */
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
  // Without a shell, or when it was killed, the next program tries another one.
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
