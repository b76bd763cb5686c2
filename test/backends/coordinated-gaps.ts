import { conformanceTitles } from '../../src/testing/conformance/index.ts'

const tooLarge = 'the server takes 65,535 bytes unless it is started with -z'
const noIndex = 'a broker has no index of ids: what is sent twice is found out, and runs once, when it is claimed'
const byArrival = 'the broker hands over as many jobs as are asked for, among equal priorities by arrival and not by due time'
const byPriority = 'the broker hands over as many jobs as are asked for, by priority alone'
const handedFirst = 'a connection that waits is handed the first job that comes'
const ofAnyName = 'a claim takes over as many jobs as it asks for, of any name: one behind them comes with a later claim'
const unseen = 'a job that is due waits in the broker, where nobody can look, until it is claimed'
const notKnown = 'a job waits for others of its batch, or that the store knows: one that the broker still carries is not known'
const cannotMove = 'what the broker carries cannot be listed, and so not be moved: let its workers finish it'

/** They send jobs that are due, and look at them before anybody has claimed them. */
const looks = [
  'a due job is ready, and running while it is leased',
  'a job has the number that it was sent with, in its record and in its lease, and is found by it',
  'jobs without a number are given one, others keep theirs',
  'many that give numbers to the same jobs at the same time agree on them',
  'jobs are listed newest first',
  'pages follow each other without gap or repetition',
  'counts tell since when the oldest ready job waits, by queue and job',
  'a waiting job that is cancelled ends and is never claimed',
  'a waiting job can be moved to a later time',
  'the state follows the new time',
  'a payload that is no longer the expected one is left alone',
  'a job with another identity or signature than the expected one is left alone',
  'of many that amend the same payload at the same time, one does',
  'a job that is due stays due, also one that has just become so',
  'of several amendments one after the other, the time of the last that gives one counts',
  'a job that waits ends as dead, with the reason, and is not claimed',
  'a rejected job can be put back',
  'answers stand in the order of the questions',
  'jobs are listed by a tag, newest first, page by page',
  'a record says its tags, and so does what is claimed',
  'tags are told apart to the letter',
  'a job that is amended has the tags of its new envelope',
  'lines are numbered over all attempts of a job, each job by itself',
  'what follows a line is read by its number',
  'lines that were dropped before they came leave a gap in the numbers',
  'the oldest lines are dropped where there are too many, or too many bytes',
  'any text comes back as it was',
  'cancelling a tree ends what a job made and what waits for it, and asks those that run to stop',
  'an ordinary job is a tree of its own when it is cancelled',
  'a job that stops in place of another attempt keeps the time for which it was due',
  'a random program keeps counts true, limits kept, jobs from being lost and outcomes with their occurrences (seed 1)',
  'a random program keeps counts true, limits kept, jobs from being lost and outcomes with their occurrences (seed 2)',
  'a random program keeps counts true, limits kept, jobs from being lost and outcomes with their occurrences (seed 3)',
]

/** They send a job, and then one that waits for it. */
const waits = [
  'a job that depends on another is blocked until that one has succeeded (X6)',
  'it waits for all of them',
  'a job whose time has not come is scheduled when it is released',
  'the result of a job is there for those that waited, also when the job is deleted at once',
  'what a job waits for is told in the order in which it was said, with where it stands',
  'a retry or a snooze is no end, and the attempt after it may succeed',
  'a duplicate that was skipped with the result of the first run has succeeded',
  'the same job named twice is waited for once',
  'a blocked job can be moved to another time, and waits all the same',
  'blocked jobs are counted and listed',
  'a worker that sleeps is woken when a blocked job becomes ready',
  'ten thousand jobs that wait for one are all released, and one that waits for ten thousand is',
  'is said for each of them, and decides as soon as it can (demand 29)',
  'does not matter where all of them succeed, but to one that stands in for them',
  'applies to every way in which a job can end',
  'names the job that failed, and why',
  'holds for a job that is nowhere: it counts as failed',
  'is of no account for what has failed already, where another one lets the job go on',
  'gives a job the word of each that it waits for where they differ',
  'is of no account any more once it has begun',
  'frees the unique key of the job that does not run',
  'is asked again when somebody puts the job back',
  'does not keep a job that somebody puts back from running alone',
  'a job that waits for its time, its turn or others, has ended or never was cannot get a child',
  'the time is counted from when it began to wait, and ends with the wait',
  'a look for what is waited for in vain finds nothing where all is well',
  'those that waited have the seal with the result, also when the job is deleted at once',
  'a job that is put back has no seal any more, nor is one known of it',
  'a lease says whether its job is linked',
  'a job that is put back waits for one that was sent after it had failed for want of it',
]

/** What the conformance suite does not ask of Beanstalkd with a coordination store beside it, and why not. */
export const coordinatedGaps: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    conformanceTitles.filter(({ needs }) => needs.includes('transfer')).map(({ group }) => [group, cannotMove]),
  ),
  ...Object.fromEntries(looks.map((title) => [title, unseen])),
  ...Object.fromEntries(waits.map((title) => [title, notKnown])),
  'a payload of a megabyte comes back whole': tooLarge,
  'sending the same envelope again stores it once, so a send may be repeated after a lost answer': noIndex,
  'one id that is there already does not disturb the rest of a large batch': noIndex,
  'many lanes of queue, key and priority are merged in the right order': byArrival,
  'of very many lanes, deep and shallow, the best jobs are claimed in their order': byArrival,
  'the best jobs are claimed first, in their order, and no more than were asked for': handedFirst,
  'of very many lanes whose keys are limited, the best jobs that may start are claimed': byArrival,
  'workers with and without it can take turns': byPriority,
  'over very many lanes the order is by due time and priority together': byPriority,
  'transactions among other work wait their turn': ofAnyName,
}
