/** The path of the page that shows a served recording. */
export const RECORDING_PAGE_PATH = '/recording'

/** The path of the recording itself; its request brings the token as a bearer's. */
export const RECORDING_FILE_PATH = '/recording.ndjson'

/** What stands in the `authorization` of its request. @param token - base64url */
export const bearerOf = (token: string): string => `Bearer ${token}`

/** The id of the element that holds the text of a recording, in a page that has one inside. */
export const RECORDING_ELEMENT_ID = 'recording'
