import { waitFor } from '../../helpers/device.ts'
import { type Flow, makeAccount, openKnown } from '../flow.ts'

/** Changes that reach a device which stays logged in. */
export const refreshFlows: readonly Flow[] = [
  {
    row: 'changes seen while in',
    isSlow: true,
    title: 'USER, who stays logged in, soon has the PIN, recovery and wallet of MAKER',
    async run(t, pair) {
      t.timeout(120_000)
      const made = await makeAccount(pair)
      const user = await openKnown(pair, made)
      const { device } = made
      const id = await device.createWallet({ name: 'New', fiatCurrencyCode: 'iso:USD', format: 'bip84' })
      const recoveryKey = await device.changeRecovery(['Pet?'], ['Rex'])
      await device.changePin({ pin: '4711' })
      // Holdfast refreshes at a sync too, the published core only every 30 s to 50 s.
      await waitFor(async () => {
        await new Promise(resolve => setTimeout(resolve, 250))
        await user.sync()
        return (await user.getPin()) === '4711'
      }, 80_000)
      t.like((await user.localUsers())[0], { username: made.name, recoveryKey })
      t.deepEqual((await user.account()).walletIds, [id])
    }
  }
]
