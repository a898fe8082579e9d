import {
  type CurrencyConfig,
  type CurrencyWallet,
  type JsonObject,
  mainDenomination,
  type Token
} from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { CliError } from '../errors/cli-error.ts'
import type { CellLike } from '../output/view.ts'
import { contractOf, tokenPlace } from '../session/token-place.ts'
import type { Session } from '../session.ts'

/** Lists the tokens of a wallet, or of a currency for the whole account. */
export const tokensList: CommandRun = async (session, text = '') => {
  const { config, wallet } = await tokenPlace(session, text)
  if (wallet === undefined && session.isOn('detected'))
    throw new CliError('USAGE', 'Tokens are found by a wallet; name the wallet')
  const rows = rowsOf(config, wallet).filter(choiceOf(session))
  return {
    data: {
      pluginId: config.currencyInfo.pluginId,
      walletId: wallet?.id ?? null,
      tokens: rows.map(jsonOf)
    },
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
      empty: emptySentence(config)
    }
  }
}

interface TokenRow {
  readonly tokenId: string
  readonly token: Token
  readonly isCustom: boolean
  readonly isAlways: boolean
  /** In the wallet; or, for a currency, in every one. */
  readonly isEnabled: boolean
  readonly isDetected: boolean
}

const rowsOf = (config: CurrencyConfig, wallet: CurrencyWallet | undefined): readonly TokenRow[] => {
  const { allTokens, customTokens, alwaysEnabledTokenIds } = config.getSnapshot()
  const always = new Set(alwaysEnabledTokenIds)
  const enabled = new Set(wallet?.getSnapshot().enabledTokenIds ?? always)
  const detected = new Set(wallet?.getSnapshot().detectedTokenIds)
  return Object.entries(allTokens)
    .map(([tokenId, token]) => ({
      tokenId,
      token,
      isCustom: Object.hasOwn(customTokens, tokenId),
      isAlways: always.has(tokenId),
      isEnabled: enabled.has(tokenId),
      isDetected: detected.has(tokenId)
    }))
    .sort((a, b) => a.token.currencyCode.localeCompare(b.token.currencyCode))
}

const choiceOf =
  (session: Session) =>
  ({ isCustom, isEnabled, isDetected }: TokenRow): boolean =>
    (!session.isOn('enabled') || isEnabled) &&
    (!session.isOn('detected') || isDetected) &&
    (!session.isOn('custom') || isCustom) &&
    (!session.isOn('builtin') || !isCustom)

const jsonOf = ({ tokenId, token, isCustom, isAlways, isEnabled, isDetected }: TokenRow): JsonObject => ({
  tokenId,
  code: token.currencyCode,
  name: token.displayName,
  decimals: decimalsOf(token),
  denominations: token.denominations.map(({ name, multiplier }) => ({ name, multiplier })),
  contract: contractOf(token) ?? null,
  custom: isCustom,
  always: isAlways,
  enabled: isEnabled,
  detected: isDetected
})

const cellsOf = ({ tokenId, token, ...is }: TokenRow): readonly CellLike[] => [
  token.currencyCode,
  token.displayName,
  is.isEnabled ? { text: is.isAlways ? 'always on' : 'on', tone: 'good' } : is.isDetected ? 'found' : '',
  is.isCustom ? 'you' : 'plugin',
  String(decimalsOf(token)),
  tokenId
]

/** As its amounts are shown: of a unit that is no power of ten, in native units. */
const decimalsOf = (token: Token): number => mainDenomination(token).multiplier.length - 1

const emptySentence = ({ currencyInfo, getSnapshot }: CurrencyConfig): string => {
  const { allTokens, areBuiltinTokensKnown } = getSnapshot()
  if (!areBuiltinTokensKnown)
    return `The plugin of ${currencyInfo.displayName} has not said which tokens there are.`
  return Object.keys(allTokens).length === 0
    ? `${currencyInfo.displayName} has no tokens.`
    : 'No token is like that.'
}
