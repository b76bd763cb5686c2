// One measurement of one contestant, alone in a process.
import { contestant } from './contestants/contestant.mjs'
import { answer, argumentsOfChild, endWithParent } from './processes.mjs'

endWithParent()
const args = argumentsOfChild()
const { measure } = await import(`./measure/${args.measure}.mjs`)
answer(await measure({ ...args, open: await contestant(args.contestant) }))
