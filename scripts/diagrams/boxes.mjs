// The two diagrams that are not sequences: the parts of the system, and the states of a job.
import { arrow, box, drawing, text } from './svg.mjs'

export function architecture() {
  const programs = [
    box({ x: 20, y: 30, width: 190, height: 60, lines: ['your program', 'dispatch, in(tx), result'] }),
    box({ x: 20, y: 120, width: 190, height: 60, lines: ['treadle send, list, why', 'command line'] }),
    box({ x: 20, y: 210, width: 190, height: 60, lines: ['other languages', 'HTTP and TCP'] }),
    box({ x: 250, y: 210, width: 150, height: 60, lines: ['treadle serve', 'job server'] }),
  ]
  const queue = box({
    x: 450,
    y: 30,
    width: 200,
    height: 240,
    kind: 'main',
    lines: [
      'the queue',
      'jobs and leases',
      'schedules',
      'limits and locks',
      'history and logs',
      '',
      'SQLite · PostgreSQL',
      'MySQL · MariaDB',
      'Redis · Valkey',
    ],
  })
  const workers = [
    box({ x: 760, y: 30, width: 200, height: 60, kind: 'good', lines: ['worker', 'handlers, schedules'] }),
    box({ x: 760, y: 120, width: 200, height: 60, kind: 'good', lines: ['worker', 'isolated threads, processes'] }),
    box({ x: 760, y: 210, width: 200, height: 60, lines: ['dashboard, metrics', 'in a browser, /metrics'] }),
  ]
  const arrows = [
    arrow('212,60 448,60'),
    text(330, 52, 'store, synced', 'small'),
    arrow('212,150 448,150'),
    arrow('212,240 248,240'),
    arrow('402,240 448,240'),
    arrow('758,52 652,52'),
    text(705, 44, 'claim, renew', 'small'),
    arrow('758,72 652,72'),
    text(705, 88, 'settle', 'small'),
    arrow('758,150 652,150'),
    arrow('758,240 652,240'),
    text(705, 232, 'read', 'small'),
  ]
  return drawing({ title: 'Programs put jobs into the queue, and workers claim and run them', width: 980, height: 300 }, [
    ...programs,
    queue,
    ...workers,
    ...arrows,
  ])
}

export function jobLife() {
  const state = (x, y, lines, kind) => box({ x, y, width: 150, height: 52, lines, kind })
  const states = [
    state(320, 20, ['dispatch'], 'main'),
    state(40, 130, ['scheduled', 'waits for its time']),
    state(320, 130, ['ready', 'can be claimed']),
    state(600, 130, ['blocked', 'waits for other jobs']),
    state(320, 250, ['running', 'leased to a worker'], 'main'),
    state(20, 370, ['succeeded', 'kept for a day'], 'good'),
    state(220, 370, ['dead (failed)', 'kept for 30 days'], 'bad'),
    state(420, 370, ['cancelled']),
    state(620, 370, ['skipped']),
  ]
  const arrows = [
    arrow('320,46 115,46 115,128'),
    text(205, 40, 'delay, schedule', 'small'),
    arrow('395,72 395,128'),
    arrow('470,46 675,46 675,128'),
    text(575, 40, 'depends on others', 'small'),
    arrow('190,156 318,156'),
    text(254, 149, 'due', 'small'),
    arrow('600,156 472,156'),
    text(536, 149, 'they ended', 'small'),
    arrow('395,182 395,248'),
    text(426, 219, 'claim', 'small'),
    arrow('320,276 115,276 115,184'),
    text(212, 269, 'retry, snooze', 'small'),
    arrow('470,276 675,276 675,184'),
    text(575, 269, 'waits for its children', 'small'),
    arrow('345,304 345,336 95,336 95,368'),
    arrow('375,304 375,346 295,346 295,368'),
    arrow('415,304 415,346 495,346 495,368'),
    arrow('445,304 445,336 695,336 695,368'),
    arrow('295,424 295,446 785,446 785,100 420,100 420,128'),
    text(560, 440, 'replay', 'small'),
  ]
  return drawing({ title: 'The states of a job, from dispatch to its end', width: 800, height: 462 }, [...arrows, ...states])
}
