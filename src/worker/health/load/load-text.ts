import type { LoadChange } from './load-control.ts'

/** `4 of 20 jobs at once: cpu 97%, lag 12 ms, memory 210 MB` */
export function loadText({ allowed, concurrency, load }: LoadChange): string {
  const { cpu, lagMs, memoryBytes } = load
  const measured = [
    `cpu ${Math.round(cpu * 100)}%`,
    `lag ${Math.round(lagMs)} ms`,
    `memory ${Math.round(memoryBytes / 1024 / 1024)} MB`,
  ]
  return `${allowed} of ${concurrency} jobs at once: ${measured.join(', ')}`
}
