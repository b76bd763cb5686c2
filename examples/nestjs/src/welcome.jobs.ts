import { Injectable } from '@nestjs/common'
import type { JobContext } from 'treadle'
import { Mailer } from './mailer.js'
import { JobHandler } from './treadle.module.js'

export interface Welcome {
  readonly email: string
}

@Injectable()
export class WelcomeJobs {
  constructor(private readonly mailer: Mailer) {}

  @JobHandler('send-welcome', (job) => job.retries(5).timeout('30s'))
  async sendWelcome(user: Welcome, ctx: JobContext) {
    await this.mailer.send(user.email, `Welcome! (attempt ${ctx.attempt})`)
    return { sentTo: user.email }
  }

  @JobHandler('good-morning', (job) => job.dailyAt('08:00').timezone('Europe/Paris'))
  async goodMorning() {
    await this.mailer.send('everybody@example.com', 'Good morning!')
  }
}
