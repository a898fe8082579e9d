import { pluginActions, type TokenRow } from '../../../app/actions/plugins.ts'
import {
  type CurrencyConfig,
  compact,
  type Denomination,
  type JsonObject,
  type Token,
  type TokenId
} from '../../../kernel/index.ts'
import { CliError } from '../../errors/cli-error.ts'
import { parseCount, parsePair } from '../../grammar/options.ts'
import type { CellLike, CommandResult } from '../../output/view.ts'
import { currencyConfig, findTokenTarget, tokenIdOf, walletTokens } from '../../session/assets.ts'
import type { CommandRun } from '../../session/command.ts'
import { findListing, openPaused } from '../../session/find-wallets.ts'
import { makeUploadedChange } from '../../session/make-change.ts'
import type { Session } from '../../session/session.ts'

/** Lists the tokens of a wallet, or of a currency for the whole account. */
export const tokensList: CommandRun = async (session, text = '') => {
  const { config, wallet } = await findTokenTarget(session, text)
  if (wallet === undefined && session.isOn('detected'))
    throw new CliError('USAGE', 'Only a wallet detects tokens; name the wallet')
  const { pluginId, displayName } = config.currencyInfo
  const { tokens, isComplete, total } = await session.run(pluginActions['token.list'], {
    ...{ accountId: (await session.account()).id, pluginId, limit: ALL },
    ...compact({ walletId: wallet?.id })
  })
  const rows = tokens.filter(choiceOf(session))
  return {
    data: { pluginId, walletId: wallet?.id ?? null, tokens: rows.map(jsonOf) },
    view: {
      kind: 'table',
      columns: [
        { title: 'CODE' },
        { title: 'NAME', canShrink: true },
        { title: 'STATE' },
        { title: 'FROM' },
        { title: 'DECIMALS', align: 'right' },
        { title: 'ID', canShrink: true }
      ],
      rows: rows.map(cellsOf),
      empty: !isComplete
        ? `The plugin of ${displayName} has not listed its tokens.`
        : total === 0
          ? `${displayName} has no tokens.`
          : 'No token matches.'
    }
  }
}

const ALL = Number.POSITIVE_INFINITY

const choiceOf =
  (session: Session) =>
  ({ isCustom, isEnabled, isDetected }: TokenRow): boolean =>
    (!session.isOn('enabled') || isEnabled) &&
    (!session.isOn('detected') || isDetected) &&
    (!session.isOn('custom') || isCustom) &&
    (!session.isOn('builtin') || !isCustom)

const jsonOf = (token: TokenRow): JsonObject => ({
  tokenId: token.tokenId,
  code: token.currencyCode,
  name: token.untrusted.displayName,
  decimals: token.decimals,
  denominations: [...token.denominations],
  contract: token.contractAddress ?? null,
  custom: token.isCustom,
  always: token.isAlways,
  enabled: token.isEnabled,
  detected: token.isDetected
})

const cellsOf = (token: TokenRow): readonly CellLike[] => [
  token.currencyCode,
  token.untrusted.displayName,
  token.isEnabled
    ? { text: token.isAlways ? 'always on' : 'on', tone: 'good' }
    : token.isDetected
      ? 'found'
      : '',
  token.isCustom ? 'you' : 'plugin',
  String(token.decimals),
  token.tokenId
]

/** Enables tokens of a wallet, on all devices. */
export const tokensEnable: CommandRun = (session, text = '', ...tokens) =>
  changeEnabled(session, [text, tokens], true)

/** Disables tokens of a wallet, on all devices. */
export const tokensDisable: CommandRun = (session, text = '', ...tokens) =>
  changeEnabled(session, [text, tokens], false)

/** Lists or changes the tokens that are enabled in every wallet of a currency. */
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
        empty: 'There are no always-enabled tokens.'
      }
    }
  }
  const isAdding = action === 'add'
  if (!isAdding && action !== 'remove') throw new CliError('USAGE', 'Write add or remove, then the tokens')
  const ids = tokens.filter(token => token !== undefined).map(token => tokenIdOf(config, token))
  if (ids.length === 0) throw new CliError('USAGE', `Name the tokens to ${action}`)
  const after = isAdding ? [...new Set([...before, ...ids])] : before.filter(id => !ids.includes(id))
  return makeUploadedChange(session, {
    doing: 'Changing the tokens',
    done: `${ids.join(', ')}: ${isAdding ? 'enabled in every wallet' : 'no longer enabled in every wallet'}`,
    data: { pluginId: config.currencyInfo.pluginId, always: after },
    call: () => config.changeAlwaysEnabledTokenIds(after)
  })
}

const changeEnabled = async (
  session: Session,
  [text, tokens]: readonly [string, readonly (string | undefined)[]],
  isEnabling: boolean
): Promise<CommandResult> => {
  const { walletId } = await findListing(session, text)
  const { config, wallet } = await walletTokens(session, await openPaused(session, walletId))
  const ids = tokens.filter(token => token !== undefined).map(token => tokenIdOf(config, token))
  const { alwaysEnabledTokenIds } = config.getSnapshot()
  const always = ids.find(id => alwaysEnabledTokenIds.includes(id))
  if (!isEnabling && always !== undefined) {
    const { pluginId } = config.currencyInfo
    throw new CliError('USAGE', `${always} is enabled in every wallet of ${pluginId}`, {
      next: [
        { command: `holdfast tokens always ${pluginId} remove ${always}`, why: 'choose it wallet by wallet' }
      ]
    })
  }
  const { enabledTokenIds: before } = wallet.getSnapshot()
  const after = isEnabling ? [...new Set([...before, ...ids])] : before.filter(id => !ids.includes(id))
  const change = {
    doing: 'Changing the tokens',
    done: `${ids.join(', ')}: ${isEnabling ? 'on' : 'off'} in ${wallet.name ?? wallet.id}`,
    data: { walletId, enabled: after },
    call: () => wallet.changeEnabledTokenIds(after)
  }
  return makeUploadedChange(session, change, wallet)
}

/** Adds a custom token. */
export const tokensAdd: CommandRun = async (session, text = '') => {
  const config = await currencyConfig(session, text)
  const [code, name, contract] = [session.text('code'), session.text('name'), session.text('contract')]
  if (code === undefined) throw new CliError('USAGE', 'A token needs a --code, such as USDX')
  const token: Token = {
    currencyCode: code,
    displayName: name ?? code,
    denominations: denominationsOf(session, code) ?? refuseDecimals(),
    ...compact({ networkLocation: contract === undefined ? undefined : { contractAddress: contract } })
  }
  let tokenId: TokenId | undefined
  const result = await makeUploadedChange(session, {
    doing: 'Adding the token',
    done: `${code} is now a token of ${config.currencyInfo.displayName}`,
    data: { pluginId: config.currencyInfo.pluginId, code },
    async call() {
      tokenId = await config.addCustomToken(token)
    }
  })
  const { data } = result
  return { ...result, data: { ...data, tokenId: tokenId ?? null } }
}

/** Changes a custom token; fields without a flag stay. */
export const tokensEdit: CommandRun = async (session, text = '', named = '') => {
  const config = await currencyConfig(session, text)
  const tokenId = customIdOf(config, named)
  const before = config.getSnapshot().customTokens[tokenId] as Token
  const [code, name, contract] = [session.text('code'), session.text('name'), session.text('contract')]
  const token: Token = {
    ...before,
    ...compact({ currencyCode: code, displayName: name }),
    denominations: denominationsOf(session, code ?? before.currencyCode) ?? before.denominations,
    ...compact({
      networkLocation:
        contract === undefined ? undefined : { ...before.networkLocation, contractAddress: contract }
    })
  }
  return makeUploadedChange(session, {
    doing: 'Changing the token',
    done: `${token.currencyCode} is changed`,
    data: {
      pluginId: config.currencyInfo.pluginId,
      tokenId,
      code: token.currencyCode,
      name: token.displayName
    },
    call: () => config.changeCustomToken(tokenId, token)
  })
}

/** Removes a custom token. The balances that wallets hold of it stay on the chain. */
export const tokensRemove: CommandRun = async (session, text = '', named = '') => {
  const config = await currencyConfig(session, text)
  const tokenId = customIdOf(config, named)
  return makeUploadedChange(session, {
    doing: 'Removing the token',
    done: `${named} is no longer a token of ${config.currencyInfo.displayName}`,
    data: { pluginId: config.currencyInfo.pluginId, tokenId },
    call: () => config.removeCustomToken(tokenId)
  })
}

const MAX_DECIMALS = 99

/** The units of a token: those of `--denom`, or its code with `--decimals`; undefined if neither is given. */
const denominationsOf = (session: Session, code: string): readonly Denomination[] | undefined => {
  const decimals = session.text('decimals')
  const pairs = session.texts('denom').map(text => parsePair(text, 'denomination'))
  if (decimals !== undefined && pairs.length > 0)
    throw new CliError('USAGE', 'Use either --decimals, or --denom for every unit')
  if (decimals !== undefined) {
    const zeros = '0'.repeat(parseCount(decimals, 'number of decimals', [0, MAX_DECIMALS]))
    return [{ name: code, multiplier: `1${zeros}` }]
  }
  return pairs.length === 0 ? undefined : pairs.map(([name, multiplier]) => ({ name, multiplier }))
}

const refuseDecimals = (): never => {
  throw new CliError('USAGE', 'A token needs its number of --decimals, or its units with --denom', {
    hint: 'Such as --decimals 6, or --denom USDX=1000000. Wrong values show wrong amounts: look them up.'
  })
}

const customIdOf = (config: CurrencyConfig, text: string): string => {
  const tokenId = tokenIdOf(config, text)
  if (Object.hasOwn(config.getSnapshot().customTokens, tokenId)) return tokenId
  throw new CliError('USAGE', `${text} belongs to the plugin; you can change only custom tokens`, {
    next: [
      {
        command: `holdfast tokens list ${config.currencyInfo.pluginId} --custom`,
        why: 'see your custom tokens'
      }
    ]
  })
}
