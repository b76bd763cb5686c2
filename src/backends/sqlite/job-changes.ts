const keptErrors = 20

/** For a job that nobody holds any more, as the changes of an UPDATE. */
export const free = 'token = NULL, lease_until = NULL, cancel = 0'

/** The history with one more error at its end, and its oldest dropped where there are too many. It takes the error's JSON twice. */
const kept = `CASE WHEN json_valid(errors) AND json_type(errors) = 'array' THEN errors ELSE '[]' END`

export const appended = `CASE WHEN json_array_length(${kept}) >= ${keptErrors}
  THEN json_insert(json_remove(${kept}, '$[0]'), '$[#]', json(?))
  ELSE json_insert(${kept}, '$[#]', json(?)) END`
