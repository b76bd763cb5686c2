// So many streams of a dashboard, read until this process is ended. Says so when all of them have begun.
const [url, count] = process.argv.slice(2)

const streams = await Promise.all(
  Array.from({ length: Number(count) }, () => fetch(url, { headers: { 'sec-fetch-site': 'same-origin' } })),
)
process.send(streams.length)
process.once('disconnect', () => process.exit())
await Promise.all(
  streams.map(async ({ body }) => {
    for await (const _ of body);
  }),
).catch(() => {})
