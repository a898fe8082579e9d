import type { Account, Lobby } from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { readLobbyId } from '../../output/texts.ts'
import { allowingUse } from '../../session/allow-use.ts'
import type { CommandRun } from '../../session/command.ts'
import { confirm } from '../../session/confirm.ts'
import { sleep } from '../../session/event-stream.ts'
import { makeChange, nameOf } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'
import { untrustedText } from '../../terminal/safe-text.ts'

/** The first sync comes 10 s after the approval, the second 20 s after the end of the first (specification §4). */
const FOLLOW_UP_SECONDS = 33

/** Shows a login request. */
export const lobbyShow: CommandRun = async (session, text = '') => {
  const { request } = await openRequest(session, text)
  return { data: requestJson(request), view: { kind: 'record', fields: requestFields(request) } }
}

/** Approves the login request of a device or app, after its name was shown. */
export const lobbyApprove: CommandRun = async (session, text = '') => {
  const { account, request } = await openRequest(session, text)
  const { appId, isWholeAccount } = request
  const [name, requester] = [nameOf(account), untrustedText(request.displayName)]
  for (const [label, value] of requestFields(request)) session.statusLine.info(`${label}: ${value}`)
  if (!session.globals.dryRun) {
    await confirm(session, {
      question: isWholeAccount
        ? `Give it the whole account ${name}, with every wallet?`
        : `Let ${requester} log in as ${name}, for its own data?`,
      summary: { ...requestJson(request), account: account.id }
    })
  }
  const stays = session.flags.wait !== false && !session.globals.dryRun
  const result = await makeChange(session, {
    doing: 'Approving',
    done: isWholeAccount ? `A new device has ${name}` : `${requester} has its login of ${name}`,
    data: { appId, approved: true },
    call: () => allowingUse(session, 'approve login', () => request.approve())
  })
  if (stays) {
    session.statusLine.info(
      'Approved. Two syncs follow, 10 and 30 seconds from now; Ctrl-C does not undo it.'
    )
    session.statusLine.step('waiting for the changes of the new device…')
    await sleep(session.signal, FOLLOW_UP_SECONDS)
    session.statusLine.clear()
  }
  return result
}

/** Declines the request: nothing is sent, and it expires. */
export const lobbyClose: CommandRun = async (session, text = '') => {
  const { request } = await openRequest(session, text)
  request.close()
  return {
    data: { ...requestJson(request), closed: true },
    view: {
      kind: 'text',
      lines: [`${untrustedText(request.displayName)} was declined; its request expires unanswered`]
    }
  }
}

type LoginRequest = NonNullable<Lobby['loginRequest']>

const openRequest = async (
  session: Session,
  text: string
): Promise<{ readonly account: Account; readonly request: LoginRequest }> => {
  const lobbyId = readLobbyId(text)
  const account = await session.account()
  const { loginRequest } = await session.withProgress('Fetching the request', () =>
    account.fetchLobby(lobbyId)
  )
  if (loginRequest !== undefined) return { account, request: loginRequest }
  throw new CliError('NOT_FOUND', `There is no login request at ${lobbyId}`, {
    hint: 'Make a new request: holdfast login --with edge'
  })
}

const requestJson = (request: LoginRequest) => {
  const { appId, displayName, displayImageDarkUrl, displayImageLightUrl, isWholeAccount, insideAppId } =
    request
  return {
    appId,
    displayName,
    displayImageDarkUrl: displayImageDarkUrl ?? null,
    displayImageLightUrl: displayImageLightUrl ?? null,
    isWholeAccount,
    insideAppId: insideAppId ?? null
  }
}

const requestFields = ({
  appId,
  displayName,
  displayImageDarkUrl,
  isWholeAccount,
  insideAppId
}: LoginRequest) =>
  [
    ['asks', displayName === '' ? 'a device without a name' : untrustedText(displayName)],
    ['app', appId === '' ? '(none)' : untrustedText(appId)],
    ['gets', isWholeAccount ? 'the whole account' : 'the login of its app'],
    ...(insideAppId === undefined
      ? []
      : [['shared with', `the app ${untrustedText(insideAppId)}, which made that login`] as const]),
    ...(displayImageDarkUrl === undefined ? [] : [['image', untrustedText(displayImageDarkUrl)] as const])
  ] as const
