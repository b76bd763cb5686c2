import { requireClient } from './installed-clients.ts'

/** The part of a Prisma client that the tests use. */
export interface PrismaClient {
  $transaction<Answer>(work: (tx: PrismaTx) => Promise<Answer>): Promise<Answer>
  $disconnect(): Promise<void>
}

export interface PrismaTx {
  $queryRawUnsafe(query: string, ...values: never[]): Promise<unknown>
  $executeRawUnsafe(query: string, ...values: never[]): Promise<unknown>
}

/** Not among the types of Node's own library. */
const { WebAssembly } = globalThis as unknown as { WebAssembly: { Module: new (bytes: Uint8Array) => object } }

interface Runtime {
  getPrismaClient(config: object): new (options: { readonly adapter: unknown }) => PrismaClient
}

const versionOf = (name: string) => (requireClient(`${name}/package.json`) as { version: string }).version

/**
 * A client of Prisma on the real engine, as `prisma generate` writes it for a schema without models: the generator itself would
 * fetch programs from elsewhere.
 */
export function prismaClient(provider: 'postgresql' | 'mysql', adapter: unknown): PrismaClient {
  const runtime = requireClient('@prisma/client/runtime/client') as Runtime
  const compiler = `@prisma/client/runtime/query_compiler_fast_bg.${provider}`
  const PrismaClient = runtime.getPrismaClient({
    previewFeatures: [],
    clientVersion: versionOf('@prisma/client'),
    engineVersion: '0',
    activeProvider: provider,
    inlineSchema: `generator client {\n  provider = "prisma-client"\n  output = "."\n}\n\ndatasource db {\n  provider = "${provider}"\n}\n`,
    runtimeDataModel: { models: {}, enums: {}, types: {} },
    parameterizationSchema: { strings: [], graph: 'AAAA' },
    compilerWasm: {
      getRuntime: async () => requireClient(`${compiler}.js`),
      getQueryCompilerWasmModule: async () => {
        const { wasm } = requireClient(`${compiler}.wasm-base64.js`) as { wasm: string }
        return new WebAssembly.Module(Buffer.from(wasm, 'base64'))
      },
      importName: './query_compiler_fast_bg.js',
    },
  })
  return new PrismaClient({ adapter })
}

export function prismaOnPostgres(url: string): PrismaClient {
  const { PrismaPg } = requireClient('@prisma/adapter-pg') as { PrismaPg: new (options: object) => unknown }
  return prismaClient('postgresql', new PrismaPg({ connectionString: url }))
}

export function prismaOnMysql(url: string): PrismaClient {
  const { PrismaMariaDb } = requireClient('@prisma/adapter-mariadb') as { PrismaMariaDb: new (options: object) => unknown }
  const { hostname, port, username, password, pathname } = new URL(url)
  const place = { host: hostname, port: Number(port), user: username, password, database: pathname.slice(1) }
  return prismaClient('mysql', new PrismaMariaDb(place))
}
