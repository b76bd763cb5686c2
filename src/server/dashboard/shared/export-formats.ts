/** In which a list of jobs can be exported. */
export const exportFormats = ['csv', 'jsonl'] as const

export type ExportFormat = (typeof exportFormats)[number]
