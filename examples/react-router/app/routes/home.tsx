import { Form, useActionData } from 'react-router'
import { sendWelcome } from '../../jobs/send-welcome'

export async function action({ request }: { request: Request }) {
  const form = await request.formData()
  const run = await sendWelcome.dispatch({ email: String(form.get('email')) })
  return { id: run.id } // the job is on disk; a worker runs it
}

export default function Home() {
  const sent = useActionData<typeof action>()
  return (
    <Form method="post">
      <input name="email" type="email" required />
      <button type="submit">Sign up</button>
      {sent ? <p>queued {sent.id}</p> : null}
    </Form>
  )
}
