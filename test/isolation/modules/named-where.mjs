import { threadId } from 'node:worker_threads'
import { treadle } from 'treadle'

treadle('memory:').define('roomy', () => ({ pid: process.pid, threadId }))
