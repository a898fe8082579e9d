import test from 'ava'
import { openToyHome } from '../../helpers/toy-home.ts'

test('fees are estimated with the sample address of the currency, else with one of the wallet; garbage is refused', async t => {
  const sampleOf = async (sampleAddress?: () => Promise<string>): Promise<readonly [string, string]> => {
    const tools = sampleAddress === undefined ? {} : { sampleAddress }
    const { account } = await openToyHome(t, { tools })
    const wallet = await account.createCurrencyWallet('wallet:toycoin')
    return [await wallet.sampleAddress(), (await wallet.getReceiveAddress()).publicAddress]
  }
  const [sample] = await sampleOf(async () => 'nobody')
  t.is(sample, 'nobody')
  const [own, fresh] = await sampleOf()
  t.is(own, fresh)
  for (const bad of ['', 5, null, 'x'.repeat(20_000)])
    await t.throwsAsync(
      sampleOf(async () => bad as never),
      { code: 'BOGUS_DATA' }
    )
})
