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
  'a higher priority comes out sooner, whatever was sent first (X1)': noPriority,
  'many lanes of queue, key and priority are merged in the right order': noPriority,
  'of very many lanes, deep and shallow, the best jobs are claimed in their order': noPriority,
  'the best jobs are claimed first, in their order, and no more than were asked for': noPriority,
  'without it priority is strict': noPriority,
  'workers with and without it can take turns': noPriority,
  'over very many lanes the order is by due time and priority together': noPriority,
  'sending the same envelope again stores it once, so a send may be repeated after a lost answer': silentDuplicates,
  'one id that is there already does not disturb the rest of a large batch': silentDuplicates,
  'a claim tells when the next waiting job falls due': noOutlook,
  'whoever sleeps until the announced instant finds the job': noOutlook,
  'thousands of jobs that fall due together all come out, each once': 'the SDK holds at most 2,047 unsettled messages',
  'limits hold': noCounting,
  'it makes room for others of its key, its queue and its group': noCounting,
  'it holds its unique key as before, whatever it is called now': noKeys,
}

/** On a server whose clock nobody can move. */
const movedClock = 'the clock of a namespace cannot be moved'

if (namespaceUrl !== null) {
  for (const title of [
    'time',
    'leases that run out',
    'beginning for good',
    'a lease ends exactly when it was asked to',
    'delayed jobs that are due and jobs of dead workers are claimed with those that are ready',
    'the next claim is due when the first of the leases ends',
    'a retry comes back after its delay, to the millisecond, as the next attempt (X3)',
    'attempts are counted one by one',
    'a snooze comes back after its delay and gives the attempt back (X3)',
    'a lease is settled once; the second time it is lost',
    'a job that is to be done again comes back at its time, with all its attempts',
  ]) {
    gaps[title] = movedClock
  }
}
