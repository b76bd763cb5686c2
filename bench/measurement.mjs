// One measurement of one contestant, alone in a process.
import { contestant } from './contestants/contestant.mjs'
import { answer, argumentsOfChild } from './processes.mjs'

const args = argumentsOfChild()
const { measure } = await import(`./measure/${args.measure}.mjs`)
answer(await measure({ ...args, open: await contestant(args.contestant) }))
