import { jobs } from 'treadle'

export const sendWelcome = jobs
  .define('send-welcome', async (user: { email: string }) => {
    console.log(`Welcome, ${user.email}!`)
    return { sentTo: user.email }
  })
  .retries(5)
  .timeout('30s')
