const paths = {
  overview: 'M2 13h12M4 13V8M8 13V3M12 13V6',
  jobs: 'M5 4h9M5 8h9M5 12h9M2 4h.01M2 8h.01M2 12h.01',
  queues: 'M2 4h12v3H2zM2 10h12v3H2z',
  workflows: 'M2 3h4v4H2zM10 9h4v4h-4zM6 5h3a2 2 0 0 1 2 2v2',
  schedules: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M8 5v3.5l2.5 1.5',
  dead: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4',
  workers: 'M3 3h10v7H3zM6 13h4M8 10v3',
  engine:
    'M8 2c3.3 0 5 .9 5 2s-1.700 2-5 2-5-.9-5-2 1.700-2 5-2M3 4v8c0 1.100 1.700 2 5 2s5-.9 5-2V4M3 8c0 1.100 1.700 2 5 2s5-.9 5-2',
  activity: 'M1.500 8h3l2-5 3 10 2-5h3',
  search: 'M7 2.500a4.500 4.500 0 1 0 0 9 4.500 4.500 0 0 0 0-9M10.500 10.500 14 14',
  sun: 'M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v1.500M8 13.500V15M1 8h1.500M13.500 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1',
  moon: 'M13 9.500A5.500 5.500 0 1 1 6.500 3a4.500 4.500 0 0 0 6.500 6.500',
  half: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M8 2v12',
  tick: 'M3 8.500 6.500 12 13 4.500',
  cross: 'M4 4l8 8M12 4l-8 8',
  clock: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2M8 5v3.500l2.500 1.500',
  circle: 'M8 3a5 5 0 1 0 0 10A5 5 0 0 0 8 3',
  link: 'M6.500 9.500a2.500 2.500 0 0 0 3.500 0l2.500-2.500A2.500 2.500 0 0 0 9 3.500l-1 1M9.500 6.500a2.500 2.500 0 0 0-3.500 0L3.500 9A2.500 2.500 0 0 0 7 12.500l1-1',
  again: 'M13 8a5 5 0 1 1-1.500-3.500L13 6M13 2.500V6H9.500',
  bar: 'M3 8h10',
  skip: 'M3 4l5 4-5 4zM8 4l5 4-5 4z',
  pause: 'M5 3v10M11 3v10',
  play: 'M5 3l8 5-8 5z',
  copy: 'M5.500 5.500h8v8h-8zM10.500 5.500v-3h-8v8h3',
  warning: 'M8 2l6.500 11.500h-13zM8 6.500v3M8 11.500v.01',
  key: 'M5.500 7a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 8l5.500-5.500M11 5l2 2',
  trash: 'M3 4h10M6 4V2.500h4V4M4.500 4l.5 9.500h6l.5-9.500',
  lock: 'M3.500 7h9v7h-9zM5.500 7V5a2.500 2.500 0 0 1 5 0v2',
  columns: 'M2 3h12v10H2zM6 3v10M10 3v10',
  star: 'M8 2l1.800 3.800 4.200.500-3.100 2.900.800 4.200L8 11.300l-3.700 2.100.800-4.200L2 6.300l4.200-.500z',
  download: 'M8 2v8M4.500 7 8 10.500 11.500 7M3 13.500h10',
  out: 'M6 3H3v10h3M10 5l3 3-3 3M13 8H6',
} as const

export type IconName = keyof typeof paths

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false">
      <path
        d={paths[name]}
        fill="none"
        stroke="currentColor"
        stroke-width="1.500"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  )
}
