import { Module } from '@nestjs/common'
import { Mailer } from './mailer.js'
import { SignupController } from './signup.controller.js'
import { TreadleModule } from './treadle.module.js'
import { WelcomeJobs } from './welcome.jobs.js'

@Module({
  imports: [TreadleModule.forRoot({ url: process.env.DATABASE_URL ?? 'sqlite:treadle.db' })],
  controllers: [SignupController],
  providers: [Mailer, WelcomeJobs],
})
export class AppModule {}
