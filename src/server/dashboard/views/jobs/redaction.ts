import { parseEncrypted, shownText } from '../../../../envelope/encryption.ts'
import { type JsonNode, readJson, writeTree } from '../../shared/json-tree.ts'
import type { ShownText } from '../../shared/views/job.ts'

/** Members whose values are always hidden, at any depth. */
const defaultSecrets =
  /pass(?:word|wd|phrase)?$|secret|token|authorization|cookie|credential|api[_-]?key|card(?:[_-]?number)?$|cvc|^iban$/i

export interface RedactionOptions {
  /** False hides payloads, results, progress and meta from all viewers. */
  readonly payloads?: boolean
  /** Names or patterns of members whose values are hidden, in addition to the usual ones (password, secret, token …). */
  readonly redact?: readonly (string | RegExp)[]
}

const mark = '•••• redacted'
const mostShown = 64 * 1024

/**
 * Decides which parts of a job's texts may be seen. Works on the texts themselves, so that the visible parts keep every
 * digit.
 */
export class Redaction {
  readonly #isHidden: boolean
  readonly #others: readonly (string | RegExp)[]

  constructor({ payloads = true, redact = [] }: RedactionOptions = {}) {
    this.#isHidden = !payloads
    this.#others = redact
  }

  get hidesPayloads(): boolean {
    return this.#isHidden
  }

  shown(text: string | null): ShownText {
    if (text === null) return { kind: 'none' }
    const bytes = Buffer.byteLength(text)
    const encrypted = parseEncrypted(text)
    if (encrypted !== undefined) return { kind: 'encrypted', kid: encrypted.kid, bytes }
    if (this.#isHidden) return { kind: 'hidden', bytes }
    const open = this.text(text)
    if (open === null) return { kind: 'raw', text: text.slice(0, mostShown), bytes, cut: text.length > mostShown }
    return { kind: 'json', text: open.slice(0, mostShown), bytes, cut: open.length > mostShown }
  }

  /** The whole text without secrets; null if it is not JSON, because secrets could not be found in it. */
  text(text: string): string | null {
    const tree = readJson(shownText(text))
    return tree === null ? null : writeTree(this.#without(tree))
  }

  /** Whether it contains a secret. */
  redacts(text: string): boolean {
    const tree = readJson(text)
    return tree !== null && writeTree(this.#without(tree)) !== writeTree(tree)
  }

  /** What may be searched: nothing that is hidden or encrypted. */
  searchable(text: string): JsonNode | null {
    if (this.#isHidden || parseEncrypted(text) !== undefined) return null
    const tree = readJson(text)
    return tree === null ? null : this.#without(tree)
  }

  #without(node: JsonNode): JsonNode {
    if (node.kind === 'array') return { kind: 'array', items: node.items.map((item) => this.#without(item)) }
    if (node.kind !== 'object') return node
    const members = node.members.map(({ name, value }) => ({
      name,
      value: this.#isSecret(name) ? ({ kind: 'text', text: mark } as const) : this.#without(value),
    }))
    return { kind: 'object', members }
  }

  #isSecret(name: string): boolean {
    if (defaultSecrets.test(name)) return true
    return this.#others.some((other) =>
      typeof other === 'string' ? other.toLowerCase() === name.toLowerCase() : other.test(name),
    )
  }
}
