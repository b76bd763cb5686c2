import { Injectable } from '@nestjs/common'

@Injectable()
export class Mailer {
  async send(to: string, text: string) {
    console.log(`to ${to}: ${text}`)
  }
}
