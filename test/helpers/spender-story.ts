import { type Context, nativeAmount } from '../../kernel/index.ts'
import { waitFor } from './device.ts'

/** What the wallet of {@link receiveNotePay} is to do. */
export interface SpenderTask {
  readonly payTo: string
  /** The txid of a payment that waits for the wallet. */
  readonly received: string
}

/** What it has been answered. */
export type SpenderStep =
  | { readonly step: 'noted' | 'synced' }
  | { readonly step: 'spent'; readonly txid: string }

/** Who hears what it was answered, and that it begins: until then it logs in. */
export interface SpenderListener {
  begin(): void
  say(step: SpenderStep): void
}

/** Logs in to an account with one wallet, which receives a payment, notes it, pays and syncs. */
export const receiveNotePay = async (
  context: Context,
  { payTo, received }: SpenderTask,
  { begin, say }: SpenderListener
): Promise<void> => {
  const account = await context.loginWithPassword('alice', 'Correct horse 1')
  const [walletId = ''] = account.getSnapshot().walletIds
  begin()
  const wallet = await account.openWallet(walletId)
  await waitFor(() => wallet.engine.getSnapshot().syncRatio === 1)
  await waitFor(async () => (await wallet.getTransactions()).length === 2)
  await wallet.saveTxMetadata(received, { notes: 'salary' })
  say({ step: 'noted' })
  const draft = await wallet.makeSpend({
    tokenId: null,
    spendTargets: [{ publicAddress: payTo, nativeAmount: nativeAmount('40000') }],
    metadata: { name: 'Landlord', notes: 'rent' }
  })
  const { txid } = await wallet.spend(draft)
  say({ step: 'spent', txid })
  await account.sync()
  say({ step: 'synced' })
}
