import { Body, Controller, HttpCode, Post } from '@nestjs/common'
import { Treadle } from 'treadle'
import type { Welcome } from './welcome.jobs.js'

@Controller('signup')
export class SignupController {
  constructor(private readonly jobs: Treadle) {}

  @Post()
  @HttpCode(202)
  async signUp(@Body() user: Welcome) {
    const run = await this.jobs.dispatch('send-welcome', { email: user.email })
    return { id: run.id } // the job is on disk; a worker runs it
  }
}
