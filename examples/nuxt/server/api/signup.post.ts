import { sendWelcome } from '../../jobs/send-welcome'

export default defineEventHandler(async (event) => {
  const { email } = await readBody<{ email: string }>(event)
  const run = await sendWelcome.dispatch({ email })
  setResponseStatus(event, 202)
  return { id: run.id }
})
