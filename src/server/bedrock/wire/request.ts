/** A request of a client of the Bedrock protocol. */
export interface BedrockRequest {
  /** The whole first line, without surrounding spaces: `CreateJob`, `Query: SELECT 1;`, `GET /status HTTP/1.1`. */
  readonly method: string
  /** The first line up to its first space, in lower case. */
  readonly verb: string
  /** Names in lower case, values unescaped. If a header is repeated, the last one counts. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
  /** Its size on the wire. */
  readonly bytes: number
}
