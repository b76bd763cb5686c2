/** What the conformance suite does not ask of Service Bus with a coordination store beside it, and why not. */
export const coordinatedGaps: Readonly<Record<string, string>> = {}
