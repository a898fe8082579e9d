/// <reference lib="dom" />
// The page that `holdfast devtools` serves: the panel of a kernel in that process.
import { makeClient } from '../core/client.ts'
import { connectSocket } from '../core/socket-channel.ts'
import { SOCKET_PATH } from '../core/socket-protocol.ts'
import { mountPanel } from '../react/mount-panel.tsx'
import { takeToken } from './panel-token.ts'

const place = document.querySelector<HTMLElement>('#devtools') ?? document.body
const token = takeToken(window)

if (token === undefined) {
  const notice = document.createElement('p')
  notice.className = 'notice'
  notice.textContent =
    'Open the whole address that “holdfast devtools” printed: it ends in the token of that process.'
  place.replaceChildren(notice)
} else {
  const channel = connectSocket({
    url: `ws://${location.host}${SOCKET_PATH}`,
    token,
    makeWebSocket: (url, protocols) => new WebSocket(url, protocols)
  })
  const client = makeClient(
    channel,
    'No answer from “holdfast devtools”. It is asked again and again; if it was ended, start it anew and open the address that it prints then.'
  )
  mountPanel(place, { client, ownsPage: true })
}
