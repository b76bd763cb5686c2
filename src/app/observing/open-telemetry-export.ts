import { openTelemetryApi } from '../../telemetry/otel/open-telemetry.ts'
import { OtelMetrics } from '../../telemetry/otel/otel-metrics.ts'
import { OtelTracing } from '../../telemetry/otel/otel-tracing.ts'
import type { Telemetry } from '../../telemetry/telemetry.ts'
import type { Settings } from '../config/settings.ts'
import type { Metrics } from './metrics.ts'

/** Exports a program's telemetry to OpenTelemetry, from when its first queue opens until the program is closed. */
export class OpenTelemetryExport {
  readonly #telemetry: Telemetry
  readonly #metrics: () => Metrics
  #stopMetrics: (() => void) | undefined

  constructor(telemetry: Telemetry, metrics: () => Metrics) {
    this.#telemetry = telemetry
    this.#metrics = metrics
  }

  /** Loads nothing unless metrics or traces are enabled. */
  async start({ openTelemetry, clock }: Pick<Settings, 'openTelemetry' | 'clock'>): Promise<void> {
    const { metrics, traces } = openTelemetry
    if (!metrics && !traces) return
    const api = await openTelemetryApi()
    if (traces) this.#telemetry.tracing ??= new OtelTracing(api, () => clock.now(), traces === 'always')
    if (metrics && this.#stopMetrics === undefined) {
      this.#metrics().start()
      const exported = new OtelMetrics(api, this.#metrics())
      const stop = this.#telemetry.observers.add(exported)
      this.#stopMetrics = () => {
        stop()
        exported.close()
      }
    }
  }

  close(): void {
    this.#stopMetrics?.()
    this.#stopMetrics = undefined
  }
}
