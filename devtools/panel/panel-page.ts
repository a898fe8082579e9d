/// <reference lib="dom" />
// The page that `holdfast devtools` serves or writes: the panel of a kernel in that process, or of a recording.
import { type DevtoolsClient, makeClient } from '../core/client/client.ts'
import { connectSocket } from '../core/client/socket.ts'
import { openRecordingFile } from '../core/open-recording-file.ts'
import {
  bearerOf,
  RECORDING_ELEMENT_ID,
  RECORDING_FILE_PATH,
  RECORDING_PAGE_PATH,
  SOCKET_PATH
} from '../core/protocol/server-paths.ts'
import { mountPanel } from '../react/mount-panel.tsx'
import { takeToken } from '../react/panel-token.ts'

const place = document.querySelector<HTMLElement>('#devtools') ?? document.body

const showStatus = (text: string): void => {
  const notice = document.createElement('p')
  notice.className = 'notice'
  notice.setAttribute('role', 'status')
  notice.textContent = text
  place.replaceChildren(notice)
}

const clientOfKernel = (token: string): DevtoolsClient =>
  makeClient(
    connectSocket({
      url: `ws://${location.host}${SOCKET_PATH}`,
      token,
      makeWebSocket: (url, protocols) => new WebSocket(url, protocols)
    }),
    'No answer from “holdfast devtools”. It is asked again and again; if it was ended, start it anew and open the address that it prints then.'
  )

const showRecording = async (load: () => Promise<Blob>, help: string): Promise<void> => {
  showStatus('Reading the recording…')
  try {
    const client = await openRecordingFile(await load())
    place.replaceChildren()
    mountPanel(place, { client, ownsPage: true })
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    showStatus(`The recording cannot be shown: ${why} ${help}`)
  }
}

const servedRecording = async (token: string): Promise<Blob> => {
  const answer = await fetch(RECORDING_FILE_PATH, { headers: { authorization: bearerOf(token) } })
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`)
  return answer.blob()
}

const showKernelOf = (token: string | undefined): void => {
  if (token === undefined)
    showStatus(
      'Open the whole address that “holdfast devtools” printed: it ends in the token of that process.'
    )
  else if (location.pathname === RECORDING_PAGE_PATH)
    void showRecording(() => servedRecording(token), 'Start “holdfast devtools” with it again.')
  else mountPanel(place, { client: clientOfKernel(token), ownsPage: true })
}

const inside = document.getElementById(RECORDING_ELEMENT_ID)
if (inside === null) showKernelOf(takeToken(window))
else void showRecording(async () => new Blob([inside.textContent ?? '']), 'This file is damaged.')
