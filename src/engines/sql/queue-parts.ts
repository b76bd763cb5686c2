import type { Numbers } from './keys/numbers.ts'
import type { OnceMarks } from './keys/once-marks.ts'
import type { UniqueKeys } from './keys/unique-keys.ts'
import type { Counts } from './lanes/counts.ts'
import type { Lanes } from './lanes/lanes.ts'
import type { Groups } from './limits/groups.ts'
import { Linking } from './sending/linking.ts'
import { Sending } from './sending/sending.ts'
import type { SqlDatabase, SqlSession } from './session.ts'
import { SettlingOfLinked } from './settling/linked-settling.ts'
import type { Outcomes } from './settling/outcomes.ts'
import { Settling } from './settling/settling.ts'
import type { Shortcuts } from './shortcuts.ts'
import { Transactions } from './transactions/transactions.ts'
import type { Endings } from './workflows/endings.ts'

/** The parts shared by all transactions. They remember nothing that a transaction could roll back. */
export interface SharedParts {
  readonly lanes: Lanes
  readonly counts: Counts
  readonly uniqueKeys: UniqueKeys
  readonly numbers: Numbers
  readonly onceMarks: OnceMarks
  readonly outcomes: Outcomes
  readonly endings: Endings
  readonly shortcuts: Shortcuts
}

/** The parts that write jobs and their ends, on the queue's own database or in a caller's transaction. */
export interface QueueParts {
  readonly transactions: Transactions
  readonly sending: Sending
  readonly linking: Linking
  readonly settling: Settling
}

export function queueParts(database: SqlDatabase, groups: Groups, shared: SharedParts, beside?: SqlSession): QueueParts {
  const { lanes, counts, onceMarks, endings, shortcuts } = shared
  const transactions = new Transactions(database, { ...shared, groups, waiting: endings })
  const sending = new Sending({ ...shared, database, groups, ...(beside === undefined ? {} : { beside }) })
  const linking = new Linking({ sending, transactions, lanes, endings })
  const linked = new SettlingOfLinked(endings, onceMarks)
  const settling = new Settling({ database, transactions, lanes, counts, onceMarks, linked, shortcuts })
  return { transactions, sending, linking, settling }
}
