import { TreadleError } from '../../core/errors.ts'
import { jobOperations } from './job-operations.ts'
import { logOperations } from './log-operations.ts'
import type { Operation, OperationName, OperationOf, Performers } from './program.ts'
import { scheduleOperations } from './schedule-operations.ts'
import { sharedOperations } from './shared-operations.ts'
import type { Stage } from './stage.ts'
import { storeOperations } from './store-operations.ts'
import { transferOperations } from './transfer-operations.ts'

const performers: Performers<OperationName, Stage> = {
  ...jobOperations,
  ...storeOperations,
  ...sharedOperations,
  ...scheduleOperations,
  ...logOperations,
  ...transferOperations,
}

/** Performs one operation. A refusal by the backend is an answer as well. */
export async function perform<Name extends OperationName>(stage: Stage, operation: OperationOf<Name>): Promise<unknown> {
  const performer = performers[operation.op as Name]
  try {
    return (await performer(stage, operation)) ?? null
  } catch (thrown) {
    if (thrown instanceof TreadleError) return { refused: thrown.code }
    throw thrown
  }
}

export type { Operation }
