import { describe, expect, test } from 'vitest'
import { attackedQueue, engines } from './attacked-queue.ts'

describe.each(engines)('unique keys that were moved on %s', (engine) => {
  async function payments(onConflict: 'merge' | 'replace') {
    const queue = await attackedQueue(engine)
    const paid: unknown[] = []
    const pay = queue.jobs
      .define('pay', async (payload: { customer: string; iban?: string; amount?: number }) => void paid.push(payload))
      .unique(({ customer }) => customer, { onConflict })
    return { queue, paid, pay }
  }

  test.each(['merge', 'replace'] as const)('a dispatch does not %s what was signed with another key', async (onConflict) => {
    const { queue, paid, pay } = await payments(onConflict)
    const ada = await pay.dispatch({ customer: 'ada', iban: 'ADA', amount: 5000 }, { delay: '1h' })
    const holder = await pay.dispatch({ customer: 'mallory' }, { delay: '1h' })
    await queue.attacker.moveKey(holder.id, ada.id)
    const mallory = await pay.dispatch({ customer: 'mallory', iban: 'MALLORY' })
    expect(mallory.id).not.toBe(ada.id)
    expect(await queue.record(ada)).toMatchObject({ state: 'dead', reason: 'rejected' })
    await queue.jobs.run()
    expect(paid).toEqual([{ customer: 'mallory', iban: 'MALLORY' }])
  })

  test('nor what was signed without a key, which is left alone', async () => {
    const { queue, pay } = await payments('merge')
    const ada = await pay.dispatch({ customer: 'ada', amount: 5000 }, { delay: '1h', unique: null })
    const holder = await pay.dispatch({ customer: 'mallory' }, { delay: '1h' })
    await queue.attacker.moveKey(holder.id, ada.id)
    await expect(pay.dispatch({ customer: 'mallory' })).rejects.toMatchObject({ code: 'SIGNATURE_INVALID' })
    expect(await queue.record(ada)).toMatchObject({ state: 'scheduled', payload: '{"customer":"ada","amount":5000}' })
  })

  test('a genuine holder is merged into, also a second time', async () => {
    const { queue, paid, pay } = await payments('merge')
    const first = await pay.dispatch({ customer: 'ada', amount: 1 }, { delay: '1h' })
    expect((await pay.dispatch({ customer: 'ada', iban: 'ADA' }, { delay: '1h' })).id).toBe(first.id)
    expect((await pay.dispatch({ customer: 'ada', amount: 2 })).id).toBe(first.id)
    await queue.jobs.run()
    expect(paid).toEqual([{ customer: 'ada', amount: 2, iban: 'ADA' }])
  })
})
