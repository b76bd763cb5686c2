import { sendWelcome } from '../../jobs/send-welcome'

export async function action({ request }: { request: Request }) {
  const { email } = await request.json()
  const run = await sendWelcome.dispatch({ email })
  return Response.json({ id: run.id }, { status: 202 })
}
