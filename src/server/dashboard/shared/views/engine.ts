export interface EngineView {
  readonly backend: string
  readonly url: string
  readonly version: string
  readonly schema: { readonly version: number; readonly latest: number } | null
  readonly parts: readonly { readonly name: string; readonly has: boolean }[]
  readonly keep: readonly { readonly state: string; readonly keptMs: number | null }[]
  readonly findings: readonly Finding[] | null
  readonly lookedAt: number | null
}

export interface Finding {
  readonly check: string
  readonly verdict: 'ok' | 'warning' | 'problem'
  readonly found: string
  readonly advice: string | null
}
