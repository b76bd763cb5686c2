import { expect, test } from 'vitest'
import { served } from './served.ts'

const at = Date.UTC(2016, 9, 18, 18, 45, 19)

test('a worker is found work, reports on it and finishes it, word for word as the documentation shows it (R1-R8)', async () => {
  const { client, clock } = await served({ at })
  const nc = await client()

  nc.send('CreateJob\nname: CheckLiveness\ndata: {"url":"https://bedrockdb.com"}\nrepeat: finished, +1 minute\n\n')
  expect(await nc.reply()).toBe('200 OK\r\nContent-Length: 11\r\n\r\n{"jobID":1}')

  await clock.advance(14_000)
  nc.send('GetJob\nname: CheckLiveness\n\n')
  expect(await nc.reply()).toBe(
    '200 OK\r\nContent-Length: 73\r\n\r\n{"data":{"url":"https://bedrockdb.com"},"jobID":1,"name":"CheckLiveness"}',
  )

  nc.send('UpdateJob\njobID: 1\ndata: {"url":"https://bedrockdb.com","status":"CHECKING"}\n\n')
  expect(await nc.reply()).toBe('200 OK\r\nContent-Length: 0\r\n\r\n')

  nc.send('QueryJob\njobID: 1\n\n')
  expect(await nc.reply()).toBe(
    '200 OK\r\nContent-Length: 238\r\n\r\n{"created":"2016-10-18 18:45:19","data":{"url":"https://bedrockdb.com","status":"CHECKING"},"jobID":1,"lastRun":"2016-10-18 18:45:33","name":"CheckLiveness","nextRun":"2016-10-18 18:45:19","repeat":"FINISHED, +1 MINUTE","state":"RUNNING"}',
  )

  nc.send('FinishJob\njobID: 1\ndata: {"url":"https://bedrockdb.com","failCount":1}\n\n')
  expect(await nc.reply()).toBe('200 OK\r\nContent-Length: 0\r\n\r\n')

  nc.send('GetJob\nname: *\n\n')
  expect(await nc.reply()).toBe('404 No job found\r\nContent-Length: 0\r\n\r\n')

  await clock.advance(60_000)
  nc.send('GetJob\nname: *\n\n')
  expect(await nc.reply()).toBe(
    '200 OK\r\nContent-Length: 87\r\n\r\n{"data":{"url":"https://bedrockdb.com","failCount":1},"jobID":1,"name":"CheckLiveness"}',
  )
})

test('a worker that waits is answered the moment a job is created (R9)', async () => {
  const { client } = await served({ at })
  const [worker, producer] = [await client(), await client()]
  await producer.ask('CreateJob', { name: 'Other' })

  worker.send('GetJob\nname: SendEmail\nconnection: wait\ntimeout: 60000\n\n')
  producer.send('CreateJob\nname: SendEmail\n\n')
  expect(await producer.reply()).toBe('200 OK\r\nContent-Length: 11\r\n\r\n{"jobID":2}')
  expect(await worker.reply()).toBe('200 OK\r\nContent-Length: 40\r\n\r\n{"data":{},"jobID":2,"name":"SendEmail"}')
})
