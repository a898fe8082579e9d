/** The path of the WebSocket, on the server that the page came from. */
export const SOCKET_PATH = '/socket'

/** The subprotocol of the WebSocket; the only one that the server ever names in its answer. */
export const SOCKET_PROTOCOL = 'holdfast-devtools-1'

/**
 * How the token is offered beside {@link SOCKET_PROTOCOL}: as a second subprotocol, since browsers let a page set no
 * header of a WebSocket, and since a query would end in logs.
 *
 * @param token - base64url
 */
export const tokenProtocolOf = (token: string): string => `token.${token}`
