'use server'

import { sendWelcome } from '../jobs/send-welcome'

export async function signUp(form: FormData) {
  await sendWelcome.dispatch({ email: String(form.get('email')) })
}
