// Manages the programs of a folder until it is killed.
import { manage } from '../../../build/manager/manager.js'

const { port, workers } = JSON.parse(process.argv[2])
await manage({ name: '*', workers, port, loadAverage: () => 0 })
