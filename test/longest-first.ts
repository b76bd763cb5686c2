import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take minutes. A run is over when the last of them is, so they begin first. */
const longest = [
  'backends/sqlite.test.ts',
  'backends/redis.test.ts',
  'differential/sqlite.test.ts',
  'backends/mysql.test.ts',
  'backends/redis-cluster.test.ts',
  'backends/valkey.test.ts',
  'backends/sql/silent-server.test.ts',
  'backends/postgres.test.ts',
  'docs.test.ts',
  'backends/coordinated.test.ts',
  'dashboard/pages.test.ts',
  'backends/mariadb.test.ts',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}

function placeOf({ moduleId }: TestSpecification): number {
  const place = longest.findIndex((path) => moduleId.endsWith(`/test/${path}`))
  return place < 0 ? longest.length : place
}
