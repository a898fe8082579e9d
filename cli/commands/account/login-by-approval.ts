import type { Account, EdgeLoginRequest } from '../../../kernel/index.ts'
import { commandInProfile } from '../../grammar/command-line.ts'
import { parseDuration } from '../../grammar/options.ts'
import { lobbyLinkOf, qrLines } from '../../output/texts.ts'
import type { CommandResult } from '../../output/view.ts'
import { rememberAccount } from '../../profile/state-files.ts'
import { pinProblem } from '../../secrets/new-secrets.ts'
import { type EventStream, openEventStream } from '../../session/event-stream.ts'
import { nameOf } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'
import { requireSharedWorld } from '../../session/shared-world.ts'
import { untrustedText } from '../../terminal/safe-text.ts'
import { writeText } from '../../terminal/terminal.ts'

const DEFAULT_TIMEOUT_MS = 600_000
/** The quiet zone that a code of this size needs; with more it would not fit into 24 lines. */
const QR_BORDER = 2
/** The link, the command, the state, and the prompt of the shell. */
const LINES_BELOW = 5

/**
 * Logs in without a secret: shows a request, and waits until a device that has the account approves it.
 *
 * The stash of the account stays on this device, so that its PIN, password or login key opens it from then on.
 *
 * @throws CliError WORLD_NOT_SHARED, INTERRUPTED after the request is cancelled; the errors of an edge login
 */
export const loginByApproval = async (session: Session): Promise<CommandResult | undefined> => {
  await requireSharedWorld(session)
  const timeout = session.text('lobbyTimeout')
  const milliseconds = timeout === undefined ? DEFAULT_TIMEOUT_MS : parseDuration(timeout)
  const context = await session.context()
  const request = await session.withProgress('Opening the request', () =>
    context.requestEdgeLogin({ timeoutSeconds: Math.ceil(milliseconds / 1000) })
  )
  const stream = openEventStream(session)
  const cancel = (): void => request.cancel()
  session.signal.addEventListener('abort', cancel, { once: true })
  try {
    const account = await follow(session, { request, stream, endsAt: Date.now() + milliseconds })
    session.keepAccount(account)
    rememberAccount(session.paths.session, account)
    const result = await settle(session, account)
    if (!session.globals.json) return result
    await stream.emit('login.done', result.data)
    for (const warning of result.warnings ?? []) await stream.emit('warning', { text: warning })
    await stream.end('done')
    return undefined
  } finally {
    session.signal.removeEventListener('abort', cancel)
    request.cancel()
  }
}

interface Following {
  readonly request: EdgeLoginRequest<Account>
  readonly stream: EventStream
  /** Milliseconds since 1970. */
  readonly endsAt: number
}

/** Shows the request and its state until the account is open. */
const follow = async (session: Session, { request, stream, endsAt }: Following): Promise<Account> => {
  const link = lobbyLinkOf(request.lobbyId)
  const expiresAt = new Date(endsAt).toISOString()
  await stream.emit('login.pending', { lobbyId: request.lobbyId, link, expiresAt })
  await present(session, request.lobbyId, link)
  let isStarted = false
  let skipped = 0
  const unsubscribe = request.subscribe(() => {
    const { state, username = null, errorCode = null, skippedReplies = 0 } = request.getSnapshot()
    if (skippedReplies > skipped) {
      skipped = skippedReplies
      void stream.emit('login.skipped', { error: errorCode, count: skipped })
    }
    if (state !== 'started' || isStarted) return
    isStarted = true
    void stream.emit('login.started', { username })
  })
  const screen = await openScreen(session, () => {
    const { state, username, errorCode, skippedReplies = 0 } = request.getSnapshot()
    return { state, username, errorCode, skippedReplies, secondsLeft: (endsAt - Date.now()) / 1000 }
  })
  try {
    return await request.account
  } finally {
    unsubscribe()
    await screen?.close()
  }
}

/** Prints the QR code, the link and the command that approve the request; nothing with `--json`. */
const present = async (session: Session, lobbyId: string, link: string): Promise<void> => {
  const { statusLine, globals, terminal } = session
  if (globals.json) return
  if (session.isOn('link')) return writeText(terminal.stdout, `${link}\n`)
  if (session.flags.qr !== false && terminal.stderr.isTTY === true) {
    const lines = await qrLines(link, globals.ascii, QR_BORDER)
    // A QR code that is cut off cannot be scanned.
    if (lines.length + LINES_BELOW > terminal.stderr.rows)
      statusLine.info('This window is too low for a QR code.')
    else for (const line of lines) statusLine.info(line)
  }
  statusLine.info(`Scan it, open ${link},`)
  statusLine.info(`or run on a device that has the account: holdfast lobby approve ${lobbyId}`)
}

const openScreen = async (
  { terminal, globals, flags }: Session,
  getProps: () => import('../../screens/edge-login.tsx').EdgeLoginProps
): Promise<{ close(): Promise<void> } | undefined> => {
  if (terminal.stderr.isTTY !== true || globals.json || globals.quiet || flags.link === true) return undefined
  const { openEdgeLoginScreen } = await import('../../screens/edge-login.tsx')
  return openEdgeLoginScreen(terminal, getProps)
}

/** Sets a PIN where needed, so that the account can be opened on this device again. */
const settle = async (session: Session, account: Account): Promise<CommandResult> => {
  const { credentials, username } = account
  const pin = await pinFor(session, account)
  if (pin !== '') {
    await session.withProgress('Setting the PIN', () => credentials.changePIN({ pin, enableLogin: true }))
  }
  const name = untrustedText(nameOf(account))
  const hasPin = credentials.isPinLoginEnabled
  const keys = [...(hasPin ? ['its PIN'] : []), ...(credentials.hasPassword ? ['its password'] : [])]
  const opens = keys.length === 0 ? 'only its login key' : keys.join(' or ')
  return {
    data: {
      loginId: account.id,
      username: username ?? null,
      method: account.loginMethod,
      appId: account.getSnapshot().appId,
      edgeLogin: account.isEdgeLogin,
      pinEnabled: hasPin
    },
    warnings:
      keys.length > 0
        ? []
        : [
            `${name} has neither PIN nor password: the next command here needs the login key, which a device with this account shows: holdfast account key --reveal`
          ],
    view: {
      kind: 'record',
      fields: [
        ['account', name],
        ['logged in by', account.loginMethod],
        ['opens here with', opens],
        ['next', commandInProfile(session.globals, 'wallets list')]
      ]
    }
  }
}

/** Returns the PIN of a flag, or prompts for one where login by PIN is off; '' for none. */
const pinFor = async ({ secrets }: Session, { credentials, isLight }: Account): Promise<string> => {
  const given = await secrets.given('new-pin')
  if (given !== undefined) return given
  if (credentials.isPinLoginEnabled || !secrets.canPrompt) return ''
  return secrets.prompt('new-pin', {
    message: `New PIN for the account, four digits or more (${isLight ? 'no other method opens it here' : 'empty: none'}):`,
    check: text => (text === '' ? undefined : pinProblem(text))
  })
}
