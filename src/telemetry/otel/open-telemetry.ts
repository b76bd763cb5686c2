import type * as OpenTelemetry from '@opentelemetry/api'
import { TreadleError } from '../../core/errors.ts'

/** The OpenTelemetry API package. A peer dependency: a program that exports telemetry already has it. */
export async function openTelemetryApi(): Promise<typeof OpenTelemetry> {
  try {
    return await import('@opentelemetry/api')
  } catch (cause) {
    const message = 'openTelemetry needs the package "@opentelemetry/api". Run: npm install @opentelemetry/api'
    throw new TreadleError('DRIVER_MISSING', message, { cause })
  }
}
