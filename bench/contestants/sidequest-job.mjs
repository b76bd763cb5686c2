// Sidequest finds a job by the file that its class is in, so it has one of its own.
import { Job } from 'sidequest'

export class BenchJob extends Job {
  static handler = async (_payload) => {}

  async run(payload) {
    await BenchJob.handler(payload)
  }
}
