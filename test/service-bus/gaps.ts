import { conformanceTitles } from '../../src/testing/conformance/index.ts'
import { namespaceUrl } from './namespace.ts'

const noStore = 'Service Bus cannot be asked for a job, nor be told to change one that waits'
const noCounting = 'Service Bus has nowhere to count what all workers run'
const noKeys = 'Service Bus cannot hold a key for a job'

const noPriority = 'Service Bus has no priorities: jobs of one entity come out in the order in which they were sent'
const noOutlook = 'Service Bus does not tell when its next scheduled message falls due'
const silentDuplicates = 'Service Bus drops duplicates where duplicate detection is on, and tells nobody'

export const gaps: Record<string, string> = {
  ...Object.fromEntries(conformanceTitles.filter(({ needs }) => needs.length > 0).map(({ group }) => [group, noStore])),
  limits: noCounting,
  'limits of groups': noCounting,
  'fair shares of groups': noCounting,
  rates: noCounting,
  'limits of queues': noCounting,
  'unique keys': noKeys,
  'how long unique keys are held': noKeys,
  'a higher priority is claimed sooner, whatever was sent first (X1)': noPriority,
  'lanes of different queues, keys and priorities are merged in the right order': noPriority,
  'with very many lanes, deep and shallow, the best jobs are claimed in order': noPriority,
  'the best jobs are claimed in order, and no more than requested': noPriority,
  'without it priority is strict': noPriority,
  'workers with and without it can take turns': noPriority,
  'across very many lanes the order combines due time and priority': noPriority,
  'sending the same envelope again stores it once, so a send may be repeated after a lost answer': silentDuplicates,
  'one id that exists already does not affect the rest of a large batch': silentDuplicates,
  'a claim reports when the next waiting job falls due': noOutlook,
  'a worker that sleeps until the announced instant finds the job': noOutlook,
  'thousands of jobs that fall due together are all claimed, each once': 'the SDK holds at most 2,047 unsettled messages',
  'limits hold': noCounting,
  'it makes room for others of its key, its queue and its group': noCounting,
  'it holds its unique key as before, even under another name': noKeys,
}

/** On a server whose clock nobody can move. */
const movedClock = 'the clock of a namespace cannot be moved'

if (namespaceUrl !== null) {
  for (const title of [
    'time',
    'leases that expire',
    'starting a job that must not start twice',
    'a lease ends exactly when it was asked to',
    'delayed jobs that are due and jobs of dead workers are claimed with those that are ready',
    'the next claim is due when the first lease ends',
    'a retry is ready after its delay, to the millisecond, as the next attempt (X3)',
    'attempts are counted one by one',
    'a snoozed job is ready after its delay, and its attempt does not count (X3)',
    'a lease is settled once; the second time it is lost',
    'a repeated job is ready at its time, with all its attempts',
  ]) {
    gaps[title] = movedClock
  }
}
