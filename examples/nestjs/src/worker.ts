// A worker is a process of its own: the same modules without a web server.
import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { Treadle } from 'treadle'
import { AppModule } from './app.module.js'

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['warn', 'error'] })
const jobs = app.get(Treadle)
console.log('working')
await jobs.work() // a worker and the scheduler, until SIGTERM or SIGINT
await app.close()
