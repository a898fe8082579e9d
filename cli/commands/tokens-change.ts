import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { findListing } from '../session/find-wallet.ts'
import { makeChange } from '../session/make-change.ts'
import { openResting } from '../session/open-wallet.ts'
import { currencyConfig, tokenIdOf, walletTokens } from '../session/token-place.ts'
import { upload } from '../session/upload.ts'
import type { Session } from '../session.ts'

/** Switches tokens of a wallet on, on all devices. */
export const tokensEnable: CommandRun = (session, text = '', ...tokens) =>
  changeEnabled(session, [text, tokens], true)

/** Switches tokens of a wallet off, on all devices. */
export const tokensDisable: CommandRun = (session, text = '', ...tokens) =>
  changeEnabled(session, [text, tokens], false)

/** Lists the tokens that are on in every wallet of a currency, or changes which those are. */
export const tokensAlways: CommandRun = async (session, text = '', action = undefined, ...tokens) => {
  const config = await currencyConfig(session, text)
  const { alwaysEnabledTokenIds: before, allTokens } = config.getSnapshot()
  if (action === undefined) {
    return {
      data: { pluginId: config.currencyInfo.pluginId, always: before },
      view: {
        kind: 'table',
        columns: [{ title: 'CODE' }, { title: 'ID', canShrink: true }],
        rows: before.map(tokenId => [allTokens[tokenId]?.currencyCode ?? '', tokenId]),
        empty: 'No token is on in every wallet.'
      }
    }
  }
  const isAdding = action === 'add'
  if (!isAdding && action !== 'remove') throw new CliError('USAGE', 'Say add or remove, then the tokens')
  const ids = tokens.filter(token => token !== undefined).map(token => tokenIdOf(config, token))
  if (ids.length === 0) throw new CliError('USAGE', `Say which tokens to ${action}`)
  const after = isAdding ? [...new Set([...before, ...ids])] : before.filter(id => !ids.includes(id))
  const result = await makeChange(session, {
    doing: 'Changing the tokens',
    done: `${ids.join(', ')}: ${isAdding ? 'on in every wallet' : 'no longer on in every wallet'}`,
    data: { pluginId: config.currencyInfo.pluginId, always: after },
    call: () => config.changeAlwaysEnabledTokenIds(after)
  })
  return session.globals.dryRun ? result : { ...result, warnings: await upload(session) }
}

const changeEnabled = async (
  session: Session,
  [text, tokens]: readonly [string, readonly (string | undefined)[]],
  isEnabling: boolean
): Promise<CommandResult> => {
  const { walletId } = await findListing(session, text)
  const { config, wallet } = await walletTokens(session, await openResting(session, walletId))
  const ids = tokens.filter(token => token !== undefined).map(token => tokenIdOf(config, token))
  const { alwaysEnabledTokenIds } = config.getSnapshot()
  const always = ids.find(id => alwaysEnabledTokenIds.includes(id))
  if (!isEnabling && always !== undefined) {
    const { pluginId } = config.currencyInfo
    throw new CliError('USAGE', `${always} is on in every wallet of ${pluginId}`, {
      next: [
        { command: `holdfast tokens always ${pluginId} remove ${always}`, why: 'choose it wallet by wallet' }
      ]
    })
  }
  const { enabledTokenIds: before } = wallet.getSnapshot()
  const after = isEnabling ? [...new Set([...before, ...ids])] : before.filter(id => !ids.includes(id))
  const result = await makeChange(session, {
    doing: 'Changing the tokens',
    done: `${ids.join(', ')}: ${isEnabling ? 'on' : 'off'} in ${wallet.name ?? wallet.id}`,
    data: { walletId, enabled: after },
    call: () => wallet.changeEnabledTokenIds(after)
  })
  return session.globals.dryRun ? result : { ...result, warnings: await upload(session, wallet) }
}
