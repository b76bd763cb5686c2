// Answers a request with a dashboard that is mounted in it, and has nothing else to do: as a web server that was closed.
import { treadle } from 'treadle'
import { dashboard } from 'treadle/dashboard'

const { path } = JSON.parse(process.argv[2])
const jobs = treadle(`sqlite:${path}`)
await jobs.define('hello', async () => {}).dispatch()
const shown = dashboard(jobs, { basePath: '/admin/jobs', authorize: () => ({ role: 'operate', user: 'ada' }) })
const answer = await shown.fetch(
  new Request('http://127.0.0.1/admin/jobs/-/preview', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', 'x-treadle': '1' },
    body: '{"filter":"job:hello"}',
  }),
)
console.log(answer.status, (await answer.json()).count)
