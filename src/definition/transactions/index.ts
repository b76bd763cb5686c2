export { type DrizzleSql, type DrizzleTransaction, fromDrizzle, fromStatements } from './adapters.ts'
export type { AdaptedTransaction, RunStatement } from './caller-transaction.ts'
