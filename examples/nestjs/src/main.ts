import 'reflect-metadata'
import { NestFactory } from '@nestjs/core'
import { Treadle } from 'treadle'
import { dashboard } from 'treadle/dashboard'
import { AppModule } from './app.module.js'

const app = await NestFactory.create(AppModule, { logger: ['warn', 'error'] })
app.enableShutdownHooks()

const shown = dashboard(app.get(Treadle), {
  basePath: '/admin/jobs',
  // Your own login decides here; null refuses access.
  authorize: () => (process.env.NODE_ENV === 'production' ? null : { role: 'operate', user: 'developer' }),
})
app.use('/admin/jobs', shown.node)

await app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1')
console.log('listening')
