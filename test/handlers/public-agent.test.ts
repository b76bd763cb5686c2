import { describe, expect, test } from 'vitest'
import { addressProblem, publicAgent } from '../../src/handlers/public-agent.ts'
import { thrownBy } from './context.ts'
import { serve } from './server.ts'

describe('A24: an address', () => {
  test.each(['8.8.8.8', '93.184.215.14', '2606:4700::1111', '::ffff:8.8.8.8'])('is public: %s', (address) => {
    expect(addressProblem(address)).toBe(undefined)
  })

  test.each([
    ['of this host', ['127.0.0.1', '127.255.255.254', '::1', '0.0.0.0', '::', '::ffff:127.0.0.1', '::7f00:1']],
    ['of a private network', ['10.1.2.3', '172.31.0.1', '192.168.1.1', '100.64.0.1', 'fd12::1', 'fec0::1']],
    ['of the link, as metadata services are', ['169.254.169.254', 'fe80::1', 'fe80::1%eth0', '::ffff:169.254.169.254']],
    ['of many hosts', ['224.0.0.1', '255.255.255.255', 'ff02::1']],
    ['that stands for an IPv4 one', ['64:ff9b::7f00:1', '2002:7f00:1::', '2001:0:1::1', '::ffff:0:7f00:1', '::a00:1']],
    ['that is none', ['127.0.0.1%lo', 'localhost', '']],
    ['that is reserved', ['240.0.0.1', '192.0.2.1', '198.18.0.1', '2001:db8::1', '100::1', '4000::1', '5f00::1']],
  ])('is refused when it is one %s', (_kind, addresses) => {
    expect(addresses.filter((address) => addressProblem(address) === undefined)).toEqual([])
  })
})

// The handler refuses these before it asks the agent; the agent must not depend on that.
test.each(['127.0.0.1', '[::ffff:127.0.0.1]', '[::1]', '0.0.0.0', 'localhost'])(
  'A24: the connection itself is refused to %s, whoever asks for it',
  async (host) => {
    await using server = await serve((_request, response) => response.end())
    const agent = await publicAgent(new Set())
    const asked = () => agent.request({ origin: `http://${host}:${server.port}`, path: '/', method: 'GET' })
    expect(await thrownBy(asked)).toMatchObject({ code: 'URL_REFUSED' })
    expect(server.connections()).toBe(0)
    await agent.close()
  },
)
