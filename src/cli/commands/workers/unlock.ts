import type { Command } from 'commander'
import { coordinationMissing } from '../../../queue/backend/missing-coordination.ts'
import type { Coordination } from '../../../queue/contract/contract.ts'
import { lockedText, releaseLockOf, schedulerLockHolder } from '../../../worker/scheduler/scheduler-lock.ts'
import { examples } from '../../examples.ts'
import { exitCodes } from '../../exit-codes.ts'
import { UsageError } from '../../failure.ts'
import { canAsk, confirm } from '../../prompt.ts'
import { withStore } from '../../session.ts'

export function addUnlock(program: Command): void {
  program
    .command('unlock')
    .summary('release the lock of a scheduler that died')
    .description(
      'Releases the lock of "--single" schedulers at once, instead of waiting until it expires, a minute after its holder died. If the holder is alive after all, it has to wait for the lock: no occurrence runs twice.',
    )
    .option('--yes', 'skip the confirmation; required without a terminal')
    .addHelpText('after', examples(['unlock', 'shows who holds the lock, and asks'], ['unlock --yes', 'in a script']))
    .action(({ yes = false }: { readonly yes?: boolean }, command: Command) =>
      withStore(command, async ({ jobs, out }) => {
        const holder = await schedulerLockHolder(coordinationOf(await jobs.open()))
        if (holder === null) {
          out.answer({ freed: false }, () => 'no scheduler holds the lock')
          return exitCodes.ok
        }
        if (!yes && !canAsk()) throw new UsageError(`${lockedText(holder)}. Add --yes to release it without confirmation`)
        if (!yes && !(await confirm(`${lockedText(holder)}. Release it?`))) {
          out.note('nothing was changed')
          return exitCodes.failed
        }
        await releaseLockOf(holder.owner, coordinationOf(await jobs.open()))
        out.answer(
          { freed: true, host: holder.host, pid: holder.pid },
          () => `released the lock of process ${holder.pid} on ${holder.host}`,
        )
        return exitCodes.ok
      }),
    )
}

function coordinationOf({ coordination, kind }: { readonly coordination?: Coordination; readonly kind: string }): Coordination {
  if (coordination !== undefined) return coordination
  throw coordinationMissing(`The ${kind} backend has no locks`)
}
