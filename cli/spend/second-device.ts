import type { PaymentApproval, Transaction } from '../../kernel/index.ts'
import { qrLines } from '../output/texts.ts'
import type { Session } from '../session/session.ts'
import { requireSharedWorld } from '../session/shared-world.ts'
import { safeText } from '../terminal/safe-text.ts'

/** Seconds. */
const TIMEOUT = 600
const QR_BORDER = 2
/** The lines that have to fit below the QR code. */
const LINES_BELOW = 5

/** Draws the code to type, for a device with a camera, where there is room. */
const drawCode = async ({ terminal, globals, statusLine }: Session, code: string): Promise<void> => {
  if (terminal.stderr.isTTY !== true || globals.json) return
  const lines = await qrLines(code, globals.ascii, QR_BORDER)
  // A QR code that is cut off cannot be scanned.
  if (lines.length + LINES_BELOW > terminal.stderr.rows) return
  for (const line of lines) statusLine.info(line)
}

/**
 * Waits until another device has approved a payment, where a rule wants that; undefined where none does. Ctrl-C withdraws the
 * request: nothing is signed.
 *
 * @throws SIGN_REFUSED after a no, or if nobody answers in time; SIGN_STOPPED, LOBBY_NOT_FOUND, CliError WORLD_NOT_SHARED
 */
export const approvalFor = async (
  session: Session,
  draft: Transaction
): Promise<PaymentApproval | undefined> => {
  const { policies } = await session.account()
  const { approvers } = await policies.explain(draft)
  if (approvers === undefined) return undefined
  await requireSharedWorld(session)
  const { signal, statusLine } = session
  const request = await session.withProgress('Asking the second device', () =>
    policies.requestApproval(draft, { timeoutSeconds: TIMEOUT })
  )
  const endsAt = Date.now() + TIMEOUT * 1000
  const names = approvers.map(({ name }) => `"${safeText(name)}"`).join(' or ')
  const show = (): void => {
    const seconds = Math.max(0, Math.ceil((endsAt - Date.now()) / 1000))
    const left = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
    statusLine.step(`waiting for ${names}, ${left} left; Ctrl-C stops it, and nothing is signed`)
  }
  await drawCode(session, request.lobbyId)
  statusLine.info(`Approve it on the device ${names}: holdfast policy approve ${request.lobbyId}`)
  const cancel = (): void => request.cancel()
  signal.addEventListener('abort', cancel, { once: true })
  if (signal.aborted) cancel()
  show()
  const timer = setInterval(show, 1000)
  try {
    return await request.answer
  } finally {
    clearInterval(timer)
    signal.removeEventListener('abort', cancel)
    cancel()
    statusLine.clear()
  }
}
