// So many streams of a dashboard, read until this process is ended. Says so when all of them have shown their first data.
const [url, count] = process.argv.slice(2)

const streams = await Promise.all(
  Array.from({ length: Number(count) }, () => fetch(url, { headers: { 'sec-fetch-site': 'same-origin' } })),
)
process.once('disconnect', () => process.exit())
let shown = 0
await Promise.all(
  streams.map(async ({ body }) => {
    let hasData = false
    for await (const part of body) {
      if (hasData || !Buffer.from(part).includes('data: {')) continue
      hasData = true
      if (++shown === streams.length) process.send(shown)
    }
  }),
).catch(() => {})
