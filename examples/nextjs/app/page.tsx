import { signUp } from './actions'

export default function Page() {
  return (
    <form action={signUp}>
      <input name="email" type="email" placeholder="ada@example.com" required />
      <button type="submit">Sign up</button>
    </form>
  )
}
