/** Mixed schedules whose clocks change in March and April 2027. */
export const schedules = {
  'half-hourly': (job) => job.cron('*/30 * * * *'),
  'new-york-quarter-past': (job) => job.hourlyAt(15).timezone('America/New_York'),
  'paris-night': (job) => job.dailyAt('02:30').timezone('Europe/Paris'),
  'lord-howe-night': (job) => job.dailyAt('01:45').timezone('Australia/Lord_Howe'),
  'casablanca-hours': (job) => job.everyTwoHours().timezone('Africa/Casablanca'),
  'tokyo-office': (job) => job.dailyAt('09:00').weekdays().timezone('Asia/Tokyo'),
  weekly: (job) => job.weekly(),
  'month-end': (job) => job.lastDayOfMonth('23:59'),
  'kolkata-union': (job) => job.cron('0 6 1,15 * FRI').timezone('Asia/Kolkata'),
}
