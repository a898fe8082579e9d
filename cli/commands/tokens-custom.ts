import type { CurrencyConfig, Denomination, Token } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import type { CommandResult } from '../command-result.ts'
import { CliError } from '../errors/cli-error.ts'
import { parseCount, parsePair } from '../grammar/values.ts'
import { makeChange } from '../session/make-change.ts'
import { currencyConfig, tokenIdOf } from '../session/token-place.ts'
import { upload } from '../session/upload.ts'
import type { Session } from '../session.ts'

/** Adds a token that the currency's plugin does not bring. */
export const tokensAdd: CommandRun = async (session, text = '') => {
  const config = await currencyConfig(session, text)
  const [code, name, contract] = [session.text('code'), session.text('name'), session.text('contract')]
  if (code === undefined) throw new CliError('USAGE', 'A token needs a --code, such as USDX')
  const token: Token = {
    currencyCode: code,
    displayName: name ?? code,
    denominations: denominationsOf(session, code) ?? refuseDecimals(),
    ...(contract === undefined ? {} : { networkLocation: { contractAddress: contract } })
  }
  let tokenId: string | undefined
  const result = await makeChange(session, {
    doing: 'Adding the token',
    done: `${code} is a token of ${config.currencyInfo.displayName} now`,
    data: { pluginId: config.currencyInfo.pluginId, code },
    async call() {
      tokenId = await config.addCustomToken(token)
    }
  })
  const { data } = result
  return finish(session, { ...result, data: { ...data, tokenId: tokenId ?? null } })
}

/** Changes a token that somebody added; what no flag names stays. */
export const tokensEdit: CommandRun = async (session, text = '', named = '') => {
  const config = await currencyConfig(session, text)
  const tokenId = customIdOf(config, named)
  const before = config.getSnapshot().customTokens[tokenId] as Token
  const [code, name, contract] = [session.text('code'), session.text('name'), session.text('contract')]
  const token: Token = {
    ...before,
    ...(code === undefined ? {} : { currencyCode: code }),
    ...(name === undefined ? {} : { displayName: name }),
    denominations: denominationsOf(session, code ?? before.currencyCode) ?? before.denominations,
    ...(contract === undefined
      ? {}
      : { networkLocation: { ...before.networkLocation, contractAddress: contract } })
  }
  const result = await makeChange(session, {
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
  return finish(session, result)
}

/** Removes a token that somebody added. What wallets hold of it stays on the chain. */
export const tokensRemove: CommandRun = async (session, text = '', named = '') => {
  const config = await currencyConfig(session, text)
  const tokenId = customIdOf(config, named)
  const result = await makeChange(session, {
    doing: 'Removing the token',
    done: `${named} is no token of ${config.currencyInfo.displayName} any more`,
    data: { pluginId: config.currencyInfo.pluginId, tokenId },
    call: () => config.removeCustomToken(tokenId)
  })
  return finish(session, result)
}

const MAX_DECIMALS = 99

/** The units of a token: those of `--denom`, or its code with `--decimals`; undefined if neither is given. */
const denominationsOf = (session: Session, code: string): readonly Denomination[] | undefined => {
  const decimals = session.text('decimals')
  const pairs = session.texts('denom').map(text => parsePair(text, 'denomination'))
  if (decimals !== undefined && pairs.length > 0)
    throw new CliError('USAGE', 'Say --decimals, or every unit with --denom')
  if (decimals !== undefined) {
    const zeros = '0'.repeat(parseCount(decimals, 'number of decimals', [0, MAX_DECIMALS]))
    return [{ name: code, multiplier: `1${zeros}` }]
  }
  return pairs.length === 0 ? undefined : pairs.map(([name, multiplier]) => ({ name, multiplier }))
}

const refuseDecimals = (): never => {
  throw new CliError('USAGE', 'A token needs its number of --decimals, or its units with --denom', {
    hint: 'Such as --decimals 6, or --denom USDX=1000000. Wrong ones show wrong amounts: look them up.'
  })
}

const customIdOf = (config: CurrencyConfig, text: string): string => {
  const tokenId = tokenIdOf(config, text)
  if (Object.hasOwn(config.getSnapshot().customTokens, tokenId)) return tokenId
  throw new CliError('USAGE', `${text} comes with the plugin, and only your own tokens can be changed`, {
    next: [{ command: `holdfast tokens list ${config.currencyInfo.pluginId} --custom`, why: 'see your own' }]
  })
}

const finish = async (session: Session, result: CommandResult): Promise<CommandResult> =>
  session.globals.dryRun ? result : { ...result, warnings: await upload(session) }
