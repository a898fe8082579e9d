import { isWalletError, WalletError } from '../../base/errors.ts'
import { copyJson, isRecord } from '../../base/json.ts'
import { makeYielder } from '../../base/yielder.ts'
import type { Services } from '../../plugins/services.ts'
import { parseToken, parseTokenId } from '../../schema/account-files.ts'
import type { Token, TokenMap } from '../../types/currency.ts'
import { tokenMapOf } from './token-map.ts'

const MAX_TOKENS = 100_000
/** A plugin whose tokens are all bad must not fill the log. */
const MAX_REPORTS = 10

/**
 * Asks a plugin which tokens its currency has, under the hook's deadline; a bad one is reported and left out.
 *
 * @returns undefined if the currency has none
 * @throws PLUGIN_FAILED, BOGUS_DATA
 */
export const askBuiltinTokens = async (
  services: Services,
  pluginId: string
): Promise<TokenMap | undefined> => {
  const { hooks, io } = services
  const answer: unknown = await hooks.builtinTokens.for(pluginId).promise()
  if (answer === undefined) return undefined
  const entries = entriesOf(answer)
  if (entries === undefined) throw new WalletError('BOGUS_DATA', { pluginId, what: 'tokens', path: '' })
  const breathe = makeYielder(io.clock)
  const tokens = new Map<string, Token>()
  let reports = 0
  for (const [tokenId, value] of entries) {
    try {
      tokens.set(parseTokenId(tokenId), parseToken(copyJson(value, 'token', MAX_TOKEN)))
    } catch (error) {
      reports += 1
      if (reports <= MAX_REPORTS)
        services.report(`currency ${pluginId}`, bogusToken(pluginId, tokenId, error))
    }
    await breathe()
  }
  return tokenMapOf(tokens)
}

/** The tokens by their ids, each read once; undefined for what is no object. */
const entriesOf = (answer: unknown): readonly (readonly [string, unknown])[] | undefined => {
  try {
    return isRecord(answer) ? Object.entries(answer).slice(0, MAX_TOKENS) : undefined
  } catch {
    return undefined
  }
}

const MAX_TOKEN = 100_000

const bogusToken = (pluginId: string, tokenId: string, error: unknown): WalletError => {
  const field = isWalletError(error, 'BAD_REPLY') && error.details.path !== '' ? `.${error.details.path}` : ''
  return new WalletError(
    'BOGUS_DATA',
    { pluginId, what: 'token', path: tokenId.slice(0, 200) + field },
    error
  )
}
