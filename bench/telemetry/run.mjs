// What metrics and traces cost: the drain of jobs that wait in a SQLite file, with and without, in turns in one process. On a machine
// that others use too, the processor time says more than the rate.
//   node bench/telemetry/run.mjs [jobs] [rounds] [a pattern of sides beside off, such as 1.%]
import { fork } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { context, metrics, ROOT_CONTEXT } from '@opentelemetry/api'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node'
import { openTreadle } from '../contestants/treadle.mjs'
import { payloads } from '../measure/payloads.mjs'
import { rateOf } from '../measure/time.mjs'

const [count = 5_000, rounds = 12] = process.argv.slice(2, 4).map(Number)
const wanted = new RegExp(process.argv[4] ?? '')
const concurrency = 100
const parts = 50

/** Which spans are kept is said by each side for itself. */
let kept = sampling(0)
const sampler = { shouldSample: (...asked) => kept.shouldSample(...asked), toString: () => 'of this side' }
const all = {
  off: { options: {} },
  metrics: { options: {}, counts: true },
  'metrics, traces at 1 %': { options: { openTelemetry: { traces: true } }, counts: true, share: 0.01 },
  'metrics, every trace': { options: { openTelemetry: { traces: true } }, counts: true, share: 1 },
  'OpenTelemetry metrics': { options: { openTelemetry: { metrics: true } }, counts: true },
}

const sides = Object.fromEntries(Object.entries(all).filter(([name]) => name === 'off' || wanted.test(name)))

const collector = fork(new URL('./collector.mjs', import.meta.url))
const port = await new Promise((resolve) => collector.once('message', resolve))
const url = `http://127.0.0.1:${port}`
const traces = new NodeTracerProvider({
  sampler,
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter({ url: `${url}/v1/traces` }))],
})
traces.register()
// What the SDK costs by being there is no cost of these metrics and traces: it is there on all sides.
context.with(ROOT_CONTEXT, () => {})
const exporter = new OTLPMetricExporter({ url: `${url}/v1/metrics` })
metrics.setGlobalMeterProvider(
  new MeterProvider({ readers: [new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 5_000 })] }),
)

const rates = Object.fromEntries(Object.keys(sides).map((name) => [name, []]))
const costs = Object.fromEntries(Object.keys(sides).map((name) => [name, []]))
for (let round = -1; round < rounds; round++) {
  for (const [name, side] of turned(Object.entries(sides), round)) {
    const { rate, cpu } = await drained(side)
    if (round < 0) continue
    rates[name].push(rate)
    costs[name].push(cpu)
  }
}
// The best quarter of the rounds: what others do on the machine only ever makes it slower.
for (const [name, all] of Object.entries(rates)) {
  const best = lower(costs[name])
  const rate = Math.round(median(all)).toLocaleString('en').padStart(8)
  const share = (lower(costs.off) / best).toFixed(3)
  console.log(`${name.padEnd(24)} ${rate} jobs/s; ${best.toFixed(1).padStart(6)} µs of processor time a job, ${share} of off`)
}
collector.kill()
process.exit()

async function drained({ options, counts = false, share = 0 }) {
  const folder = mkdtempSync(join(tmpdir(), 'treadle-bench-'))
  const queue = await openTreadle(
    folder,
    async () => {},
    options,
    (jobs) => counts && jobs.metrics.start(),
  )
  try {
    kept = sampling(share)
    // In many dispatches, of which the sampler keeps some.
    for (let part = 0; part < parts; part++) await queue.addMany(payloads(count / parts))
    const before = process.cpuUsage()
    const rate = await rateOf(count, () => queue.drain(concurrency, count))
    const { user, system } = process.cpuUsage(before)
    return { rate, cpu: (user + system) / count }
  } finally {
    await queue.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function sampling(share) {
  return new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(share) })
}

/** No side is always the one after the same other. */
function turned(list, by) {
  const at = ((by % list.length) + list.length) % list.length
  return [...list.slice(at), ...list.slice(0, at)]
}

function lower(values) {
  return median(values.toSorted((a, b) => a - b).slice(0, Math.max(1, Math.floor(values.length / 4))))
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b)
  return (sorted[Math.floor((sorted.length - 1) / 2)] + sorted[Math.ceil((sorted.length - 1) / 2)]) / 2
}
