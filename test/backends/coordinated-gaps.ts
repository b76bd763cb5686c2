const tooLarge = 'the server takes 65,535 bytes unless it is started with -z'
const noIndex = 'a broker has no index of ids: what is sent twice is found out, and runs once, when it is claimed'
const byArrival = 'the broker hands over as many jobs as are asked for, among equal priorities by arrival and not by due time'
const byPriority = 'the broker hands over as many jobs as are asked for, by priority alone'
const handedFirst = 'a connection that waits is handed the first job that comes'
const ofAnyName = 'a claim takes over as many jobs as it asks for, of any name: one behind them comes with a later claim'
const countedByQueue = 'jobs in the broker are counted by queue, without their names and without the age of the oldest'
const noLines = 'a job in the broker has written no lines yet: lines are stored for jobs that are in the store'

/** What the conformance suite does not ask of Beanstalkd with a coordination store beside it, and why not. */
export const coordinatedGaps: Readonly<Record<string, string>> = {
  'a payload of a megabyte is returned whole': tooLarge,
  'sending the same envelope again stores it once, so a send may be repeated after a lost answer': noIndex,
  'one id that exists already does not affect the rest of a large batch': noIndex,
  'a job that was sent again while it was in a parcel stays as it was sent when the parcel comes back': noIndex,
  'lanes of different queues, keys and priorities are merged in the right order': byArrival,
  'with very many lanes, deep and shallow, the best jobs are claimed in order': byArrival,
  'the best jobs are claimed in order, and no more than requested': handedFirst,
  'with very many limited lanes, the best jobs that may start are claimed': byArrival,
  'workers with and without it can take turns': byPriority,
  'across very many lanes the order combines due time and priority': byPriority,
  'a job is found behind very many others, wherever in its key the pattern is literal, unless its queue is paused': ofAnyName,
  'transactions wait their turn among other work': ofAnyName,
  'counts report since when the oldest ready job has waited, by queue and job': countedByQueue,
  'counts follow jobs that leave and arrive': countedByQueue,
  'lines are numbered across all attempts of a job, separately for each job': noLines,
  'lines after a given number can be read': noLines,
  'lines that were dropped before storing leave a gap in the numbers': noLines,
  'the oldest lines are dropped if there are too many lines or bytes': noLines,
  'any text is returned unchanged': noLines,
}
