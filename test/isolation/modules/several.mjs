// Programs of several queues with jobs of one name.
import { treadle } from 'treadle'

for (const number of [1, 2, 3]) treadle(`sqlite:${number}.db`).define('whose', () => number)
