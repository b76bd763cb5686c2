/** The choices for a new project. */
export const languages = ['typescript', 'javascript', 'commonjs'] as const
export const databases = ['sqlite', 'postgres', 'mysql', 'mariadb'] as const
export const frameworks = ['none', 'express', 'fastify', 'hono'] as const

export type Language = (typeof languages)[number]
export type Database = (typeof databases)[number]
export type Framework = (typeof frameworks)[number]

export interface Choices {
  readonly language: Language
  readonly database: Database
  readonly framework: Framework
}
