export function isEnded(state: string): boolean {
  return ['succeeded', 'dead', 'cancelled', 'skipped'].includes(state)
}
