// A process that dispatches one job each time it is told to, and ends when nobody is left to tell it.
import { contestant } from '../contestants/contestant.mjs'
import { argumentsOfChild } from '../processes.mjs'
import { instant } from './time.mjs'

const { place, contestant: name } = argumentsOfChild()
const open = await contestant(name)
const queue = await open(place)
process.on('message', () => void queue.add({ sentAt: instant() }))
process.on('disconnect', () => void queue.close())
process.send('ready')
