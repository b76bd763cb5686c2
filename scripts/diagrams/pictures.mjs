// What the pictures of the documentation show. The name of each is its file in docs/images.
import { architecture, jobLife } from './boxes.mjs'
import { sequence } from './sequence.mjs'

export const pictures = {
  architecture: architecture(),
  'job-life': jobLife(),
  'guarantee-durable': sequence({
    title: 'Durable: a job that was acknowledged survives a power failure',
    lanes: ['your program', 'database', 'disk'],
    steps: [
      { from: 0, to: 1, text: 'dispatch(payload)' },
      { from: 1, to: 2, text: 'commit, and sync' },
      { from: 2, to: 1, text: 'written' },
      { from: 1, to: 0, text: 'dispatch resolves' },
      { at: 1, text: 'power failure', kind: 'bad' },
      { at: 1, text: 'restart: the job is there', kind: 'good' },
    ],
  }),
  'guarantee-at-least-once': sequence({
    title: 'At least once: the job of a worker that crashes runs again',
    lanes: ['worker A', 'queue', 'worker B'],
    steps: [
      { from: 0, to: 1, text: 'claim: a lease of 30 s' },
      { from: 0, to: 1, text: 'renew, every 10 s' },
      { at: 0, text: 'kill -9', kind: 'bad' },
      { at: 1, text: 'the lease expires' },
      { from: 2, to: 1, text: 'claim: rescues = 1' },
      { from: 2, to: 1, text: 'succeeded' },
      { at: 1, text: 'ended once', kind: 'good' },
    ],
  }),
  'guarantee-one-owner': sequence({
    title: 'One owner at a time: a late result of an expired lease is refused',
    lanes: ['worker A', 'queue', 'worker B'],
    steps: [
      { from: 0, to: 1, text: 'claim: token 1' },
      { at: 0, text: 'the machine sleeps', kind: 'bad' },
      { at: 1, text: 'the lease expires' },
      { from: 2, to: 1, text: 'claim: token 2' },
      { from: 0, to: 1, text: 'succeeded, with token 1', refused: true },
      { at: 0, text: 'job:lost, not applied', kind: 'bad' },
      { from: 2, to: 1, text: 'succeeded, with token 2' },
    ],
  }),
  'guarantee-nothing-dropped': sequence({
    title: 'Nothing dropped: a failed job is kept with its errors, and can be replayed',
    lanes: ['worker', 'queue', 'you'],
    steps: [
      { from: 0, to: 1, text: 'attempt 1 failed: backoff' },
      { from: 0, to: 1, text: 'last attempt failed' },
      { at: 1, text: 'dead, with its errors', kind: 'bad' },
      { from: 2, to: 1, text: 'treadle dead list' },
      { from: 2, to: 1, text: 'treadle dead replay' },
      { from: 0, to: 1, text: 'claim, succeeded' },
      { at: 1, text: 'succeeded', kind: 'good' },
    ],
  }),
  'guarantee-no-forged-work': sequence({
    title: 'No forged work: a job that was changed in the database does not run',
    lanes: ['your program', 'queue', 'worker'],
    steps: [
      { from: 0, to: 1, text: 'job, signed with the key' },
      { at: 1, text: 'someone edits the row', kind: 'bad' },
      { from: 2, to: 1, text: 'claim' },
      { at: 2, text: 'the signature is wrong', kind: 'bad' },
      { from: 2, to: 1, text: 'dead: rejected', refused: true },
      { at: 2, text: 'the handler is not called', kind: 'good' },
    ],
  }),
  'guarantee-transaction': sequence({
    title: 'In your transaction: the job exists when you commit, and disappears if you roll back',
    lanes: ['your program', 'database', 'worker'],
    steps: [
      { from: 0, to: 1, text: 'BEGIN' },
      { from: 0, to: 1, text: 'INSERT INTO orders …' },
      { from: 0, to: 1, text: 'confirm.in(tx).dispatch(…)' },
      { at: 2, text: 'sees nothing yet' },
      { from: 0, to: 1, text: 'COMMIT' },
      { at: 1, text: 'the order and its job', kind: 'good' },
      { from: 2, to: 1, text: 'claim' },
    ],
  }),
  'guarantee-one-occurrence': sequence({
    title: 'One run per occurrence: the row of an occurrence is unique, however many schedulers there are',
    lanes: ['scheduler A', 'queue', 'scheduler B'],
    steps: [
      { from: 0, to: 1, text: 'store digest @ 08:00' },
      { from: 2, to: 1, text: 'store digest @ 08:00', refused: true },
      { at: 2, text: 'it is there already' },
      { at: 1, text: 'one job for 08:00', kind: 'good' },
      { at: 0, text: 'both are killed', kind: 'bad' },
      { at: 1, text: 'it runs: stored ahead', kind: 'good' },
    ],
  }),
}
