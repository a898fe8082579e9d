import type { CurrencyInfo, JsonObject } from '../../kernel/index.ts'
import type { CommandRun } from '../command.ts'
import { findListing } from '../session/find-wallet.ts'

/** Lists the types of wallets that can be made, or those that a wallet can be split into. */
export const walletsTypes: CommandRun = async session => {
  const all = await session.currencies()
  const source = session.text('splittableFrom')
  const types = source === undefined ? all : await splittableFrom(source)
  return {
    data: { types: types.map(typeJson) },
    view: {
      kind: 'table',
      columns: [
        { title: 'TYPE' },
        { title: 'CURRENCY', canShrink: true },
        { title: 'CODE' },
        { title: 'IMPORT' },
        { title: 'UNITS', canShrink: true }
      ],
      rows: types.map(info => [
        info.walletType.replace(/^wallet:/, ''),
        info.displayName,
        info.currencyCode,
        info.canImportKeys === false ? 'no' : 'yes',
        info.denominations.map(({ name }) => name).join(', ')
      ]),
      empty: 'This wallet cannot be split into any other type.'
    }
  }

  async function splittableFrom(text: string): Promise<readonly CurrencyInfo[]> {
    const { walletId } = await findListing(session, text)
    const names = await (await session.account()).listSplittableWalletTypes(walletId)
    return all.filter(({ walletType }) => names.includes(walletType))
  }
}

const typeJson = (info: CurrencyInfo): JsonObject => ({
  type: info.walletType,
  pluginId: info.pluginId,
  name: info.displayName,
  code: info.currencyCode,
  canImport: info.canImportKeys !== false,
  denominations: info.denominations.map(({ name, multiplier }) => ({ name, multiplier }))
})
