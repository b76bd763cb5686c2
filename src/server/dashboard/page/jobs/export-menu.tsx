import { type ExportFormat, exportFormats } from '../../shared/export-formats.ts'
import { base } from '../address.ts'
import { Menu } from '../components/menu.tsx'

const words: Readonly<Record<ExportFormat, string>> = { csv: 'CSV', jsonl: 'JSON lines' }

/** Downloads of all jobs that match the filter, not only of those that are shown. */
export function ExportMenu({ filter }: { readonly filter: string }) {
  return (
    <Menu label="Export" icon="download">
      {exportFormats.map((format) => (
        <a key={format} href={`${base}/-/export?${new URLSearchParams({ q: filter, format })}`} download>
          {words[format]}
        </a>
      ))}
    </Menu>
  )
}
