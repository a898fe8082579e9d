/** The link that makes a device with the account offer to approve a request; QR codes carry it. */
export const lobbyLinkOf = (lobbyId: string): string => `edge://edge/${lobbyId}`

/** The lobby id of a link, of whatever scheme and host, or of a bare id. */
export const lobbyIdOf = (text: string): string =>
  text
    .trim()
    .replace(/[?#].*$/, '')
    .split('/')
    .at(-1) ?? ''
