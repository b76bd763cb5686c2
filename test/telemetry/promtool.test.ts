import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { findPrograms, programFolders } from '../../scripts/services/programs.mjs'
import { world } from '../world.ts'

const promtool = findPrograms([['promtool']], programFolders(process.env))?.promtool ?? null
const rules = fileURLToPath(new URL('../../examples/monitoring/prometheus-rules.yaml', import.meta.url))

/** What makes an alert fire, and the same without the reason. The values of a series are one a minute. */
const alerts: Readonly<Record<string, { readonly firing: readonly string[]; readonly silent: readonly string[] }>> = {
  TreadleQueueNotReadable: {
    firing: ['treadle_queue_up{backend="main"} 0x60'],
    silent: ['treadle_queue_up{backend="main"} 1x60'],
  },
  TreadleNoWorker: {
    firing: ['treadle_workers{backend="main"} 0x60', 'treadle_queue_jobs{backend="main",queue="mail",state="ready"} 3x60'],
    silent: ['treadle_workers{backend="main"} 0x60', 'treadle_queue_jobs{backend="main",queue="mail",state="ready"} 0x60'],
  },
  TreadleOldestJobWaits: {
    firing: [
      'treadle_queue_oldest_seconds{backend="main",queue="mail"} 700x60',
      'treadle_queue_paused{backend="main",queue="mail"} 0x60',
    ],
    silent: [
      'treadle_queue_oldest_seconds{backend="main",queue="mail"} 700x60',
      'treadle_queue_paused{backend="main",queue="mail"} 1x60',
    ],
  },
  TreadleFailureRate: {
    firing: [...ends('succeeded', 90), ...ends('dead', 10)],
    silent: [...ends('succeeded', 99), ...ends('dead', 1)],
  },
  TreadleDeadJobs: { firing: ends('dead', 1), silent: ends('dead', 0) },
  TreadleLeasesLost: {
    firing: ['treadle_leases_lost_total{queue="mail",job="send"} 0+1x60'],
    silent: ['treadle_leases_lost_total{queue="mail",job="send"} 4x60'],
  },
  TreadleBreakerOpen: {
    firing: ['treadle_breaker_state{backend="main",state="open"} 1x60'],
    silent: [
      'treadle_breaker_state{backend="main",state="open"} 0x60',
      'treadle_breaker_state{backend="main",state="closed"} 1x60',
    ],
  },
  TreadleSchedulesMissed: { firing: ['treadle_schedule_missed_total 0+1x60'], silent: ['treadle_schedule_missed_total 3x60'] },
  TreadleEventLoopStalls: {
    firing: ['treadle_event_loop_stalls_total 0+1x60'],
    silent: ['treadle_event_loop_stalls_total 9x60'],
  },
}

function ends(outcome: string, perMinute: number): readonly string[] {
  return [`treadle_jobs_ended_total{queue="mail",job="send",outcome="${outcome}"} 0+${perMinute}x60`]
}

describe.skipIf(promtool === null)('Prometheus', () => {
  const run = (words: readonly string[], input = '') => {
    const { status, stdout, stderr } = spawnSync(promtool as string, words, { input, encoding: 'utf8' })
    return { status, said: stdout + stderr }
  }

  test('reads all metrics, and finds nothing in their names, types and units that is unusual', async () => {
    const { jobs } = world()
    const failing = jobs.define('fails "often" \\ ü', () => {
      throw new Error('no luck')
    })
    await jobs.metrics.text()
    await failing.dispatch()
    await jobs.run()
    expect(run(['check', 'metrics'], await jobs.metrics.text())).toEqual({ status: 0, said: '' })
  })

  test('accepts the alert rules of the example, and its configuration', () => {
    expect(run(['check', 'rules', rules])).toMatchObject({ status: 0, said: expect.stringContaining('9 rules found') })
    const config = rules.replace('prometheus-rules', 'prometheus')
    expect(run(['check', 'config', '--syntax-only', config])).toMatchObject({ status: 0 })
  })

  test.each(Object.entries(alerts))('fires %s for its reason, and not without it', (alert, { firing, silent }) => {
    const folder = mkdtempSync(join(tmpdir(), 'treadle-rules-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const seriesOf = (lines: readonly string[]) =>
      lines.map((line) => {
        const at = line.lastIndexOf(' ')
        return { series: line.slice(0, at), values: line.slice(at + 1) }
      })
    // Without expected alerts promtool fails for each that fires, with the name of that alert.
    const resultOf = (lines: readonly string[]) => {
      const expecting = { eval_time: '30m', alertname: alert, exp_alerts: [] }
      const tests = [{ interval: '1m', input_series: seriesOf(lines), alert_rule_test: [expecting] }]
      // JSON is YAML.
      writeFileSync(join(folder, 'test.yaml'), JSON.stringify({ rule_files: [rules], evaluation_interval: '1m', tests }))
      return run(['test', 'rules', join(folder, 'test.yaml')])
    }
    expect(resultOf(silent)).toMatchObject({ status: 0 })
    expect(resultOf(firing)).toMatchObject({ status: 1, said: expect.stringContaining(`alertname="${alert}"`) })
  })
})
