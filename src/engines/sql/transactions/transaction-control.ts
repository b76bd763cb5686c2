const control =
  /^(?:begin|start|commit|end|abort|rollback|savepoint|release|prepare\s+transaction|pragma|attach|detach|vacuum)\b/i

/** Whether a statement begins or ends a transaction: a commit in the middle would persist only half of the work. */
export function controlsTransaction(sql: string): boolean {
  return control.test(statementOf(sql))
}

const blanks = /^(?:\s|;|--[^\n]*(?:\n|$)|#[^\n]*(?:\n|$)|\/\*(?!!)[\s\S]*?\*\/)+/

/** The statement without leading comments. */
export function statementOf(sql: string): string {
  return sql.replace(blanks, '')
}
