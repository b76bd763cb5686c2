import { prefix } from '../../../client/api/operation.ts'
import type { Json } from '../../../core/text/json.ts'
import type { Grant } from '../../access/grant.ts'
import { refuseOutside, refuseRole } from '../../http/permission.ts'
import type { AnyReply, Route } from '../../http/route.ts'
import { Routing } from '../../http/routing.ts'
import { askedOf } from '../../http/wire/asking.ts'
import type { Body } from '../../http/wire/body.ts'
import { HttpProblem } from '../../http/wire/http-problem.ts'
import type { JobService } from '../../jobs/job-service.ts'

/** Calls operations of the HTTP API for a user who is not identified by a token. The same rules apply. */
export class ApiCaller {
  readonly #routing: Routing
  readonly #service: JobService

  constructor(routes: readonly Route[], service: JobService) {
    this.#routing = new Routing(routes)
    this.#service = service
  }

  /** `path` is the API path below its prefix. */
  call(method: string, path: string, grant: Grant, body?: Json, signal?: AbortSignal): Promise<AnyReply> {
    return this.#call(method, path, grant, body === undefined ? null : { text: JSON.stringify(body), value: body }, signal)
  }

  /** Sends the body as this exact text, so that no digit of it changes. */
  callWith(method: string, path: string, grant: Grant, text: string): Promise<AnyReply> {
    return this.#call(method, path, grant, { text, value: JSON.parse(text) as Json })
  }

  async #call(method: string, path: string, grant: Grant, said: Body | null, signal?: AbortSignal): Promise<AnyReply> {
    const found = this.#routing.find(`${prefix}${path}`)
    const route = found?.byMethod.get(method)
    if (found === null || route === undefined) throw new HttpProblem('not-found', 'There is nothing at this address')
    refuseRole(route.operation, grant)
    const asked = askedOf(route.operation, {
      params: found.params,
      query: new URLSearchParams(),
      headers: {},
      body: said,
      signal: () => signal ?? new AbortController().signal,
      grant,
    })
    await refuseOutside(route, asked, grant, this.#service)
    return route.handle(asked)
  }
}
