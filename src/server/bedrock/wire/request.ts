/** What a client of the Bedrock protocol has asked for. */
export interface BedrockRequest {
  /** The whole first line, without the spaces around it: `CreateJob`, `Query: SELECT 1;`, `GET /status HTTP/1.1`. */
  readonly method: string
  /** The first line up to its first space, in lower case. */
  readonly verb: string
  /** Names in lower case, values unescaped; of a header that came twice, the last. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
  /** How many it took on the wire. */
  readonly bytes: number
}
