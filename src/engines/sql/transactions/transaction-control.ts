const control =
  /^(?:begin|start|commit|end|abort|rollback|savepoint|release|prepare\s+transaction|pragma|attach|detach|vacuum)\b/i

/** Whether a statement begins or ends a transaction: a commit in the middle would leave half of the work without the other. */
export function controlsTransaction(sql: string): boolean {
  return control.test(statementOf(sql))
}

const blanks = /^(?:\s|;|--[^\n]*(?:\n|$)|#[^\n]*(?:\n|$)|\/\*(?!!)[\s\S]*?\*\/)+/

/** Without the comments before it. */
export function statementOf(sql: string): string {
  return sql.replace(blanks, '')
}
