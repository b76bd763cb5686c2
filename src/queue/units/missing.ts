/**
 * Thrown when a rule needs something that is not loaded. It is loaded, and the rule runs again from its start. Each engine has its
 * own way to say what is needed.
 */
export class Missing<Need> extends Error {
  readonly needs: readonly Need[]

  constructor(needs: readonly Need[]) {
    super('not loaded')
    this.needs = needs
  }
}
