import type { Delivery, Identity } from '../../src/envelope/envelope.ts'
import { KeyRing, type SigningKey } from '../../src/envelope/keys/key-ring.ts'

export const firstKey: SigningKey = { id: 'k1', secret: 'correct horse battery staple' }
export const secondKey: SigningKey = { id: 'k2', secret: 'a second secret, just as long' }

export function ring(...keys: readonly SigningKey[]): KeyRing {
  return new KeyRing(keys)
}

export const createdAt = Date.UTC(2026, 0, 1)

export const identity: Identity = {
  id: '019b7cb4-0000-7000-8000-000000000001',
  job: 'send-email',
  name: 'Send an e-mail',
  queue: 'mail',
  priority: 5,
  maxRetries: 3,
  timeoutMs: 30_000,
  singleInstance: false,
  idempotencyKey: 'welcome:ada',
  meta: { tenant: 'acme', trace: { id: 7 } },
  occurrence: null,
  repeat: null,
}

export const payload = '{"to":"ada@example.com"}'

export const delivery: Delivery = { createdAt, runAt: createdAt, uniqueKey: null }
