/** The path of the WebSocket, on the server that the page came from. */
export const SOCKET_PATH = '/socket'

/** The subprotocol of the WebSocket; the only one that the server ever names in its answer. */
export const SOCKET_PROTOCOL = 'holdfast-devtools-1'

/**
 * The subprotocol that carries the token beside {@link SOCKET_PROTOCOL}, since browsers let a page set no
 * header of a WebSocket, and since a query would end in logs.
 *
 * @param token - base64url
 */
export const tokenProtocolOf = (token: string): string => `token.${token}`

/** The path of the page that shows a served recording. */
export const RECORDING_PAGE_PATH = '/recording'

/** The path of the recording itself; its request brings the token as a bearer's. */
export const RECORDING_FILE_PATH = '/recording.ndjson'

/** The `authorization` header of its request. @param token - base64url */
export const bearerOf = (token: string): string => `Bearer ${token}`

/** The id of the element that holds the text of a recording, in a page that has one inside. */
export const RECORDING_ELEMENT_ID = 'recording'
