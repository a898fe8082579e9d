import { type JsonObject, Secret } from '../../../kernel/index.ts'
import { repoIdOf } from '../../../kernel/keys/ids.ts'
import { exportDeployedRepo, openRepo } from '../../../kernel/sync/open-repo.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'
import { openFileDisk } from '../../../plugins/storage/file/file-storage.ts'
import { likeList } from '../../helpers/like-list.ts'
import { type Flow, makeAccount, OFFLINE, openKnown } from '../flow.ts'
import { deposit, NOTE } from './wallet-flows.ts'

const WALLET = { name: 'Épargne', fiatCurrencyCode: 'iso:CHF', format: 'bip84' }

/** Folders that one core wrote and the other opens. */
export const fileFlows: readonly Flow[] = [
  {
    row: 'folder opened',
    mayReport: OFFLINE,
    title: 'USER opens the folder of MAKER, with every way in, and MAKER opens it again',
    async run(t, pair) {
      const { device, name, password, pin } = await makeAccount(pair)
      const loginKey = await device.getLoginKey()
      const recoveryKey = await device.changeRecovery(['Pet?'], ['Rex'])
      await device.enableOtp()
      const { otpKey } = await device.twoFactor()
      const who = { username: name }
      await device.stop()
      const folder = await pair.world.copyOf(device.folder)
      const user = await pair.openUser({ folder })
      likeList(t, await user.localUsers(), [
        { ...who, recoveryKey, isPinLoginEnabled: true, isKeyLoginEnabled: true }
      ])
      await user.loginWithPIN(who, pin)
      t.is((await user.twoFactor()).otpKey, otpKey)
      await user.logout()
      await pair.world.offline(async () => {
        await user.loginWithKey(who, loginKey)
        await user.logout()
        await user.loginWithPassword(name, password)
      })
      t.is(await user.getPin(), pin)
      await user.changePin({ pin: '55555' })
      await user.stop()

      const again = await pair.openMaker({ folder })
      await again.loginWithPIN(who, '55555')
      t.is(await again.getLoginKey(), loginKey)
      likeList(t, await again.localUsers(), [{ ...who, recoveryKey, isPinLoginEnabled: true }])
      t.is((await again.twoFactor()).otpKey, otpKey)
    }
  },
  {
    row: 'unsynced files',
    mayReport: OFFLINE,
    title: 'USER goes on, without a server, with what MAKER wrote and did not yet sync',
    async run(t, pair) {
      const made = await makeAccount(pair)
      const { device } = made
      const loginKey = await device.getLoginKey()
      const id = await device.createWallet(WALLET)
      const transaction = await deposit(pair, device, id)
      const { txid } = transaction
      await device.writeNote(id, txid, NOTE)
      await device.sync()
      const keys = await device.rawPrivateKey(id)
      await pair.world.offline(async () => {
        await device.renameWallet(id, 'Renommé')
        await device.writeNote(id, txid, { notes: 'not yet synced' })
        await device.stop()
      })
      const folder = await pair.world.copyOf(device.folder)
      // Holdfast stores repos in another form than deployed clients, and can write theirs.
      if (pair.direction === '→') await exportRepo(folder, keys)

      const user = await pair.openUser({ folder })
      const noteThere = { ...NOTE, notes: 'not yet synced' }
      const look = async () => {
        await user.loginWithKey({ username: made.name }, loginKey)
        likeList(t, await user.wallets(), [{ id, name: 'Renommé', fiatCurrencyCode: 'iso:CHF' }])
        await user.showTransactions(id, [transaction])
        t.deepEqual(await user.noteOf(id, txid), noteThere)
      }
      // The account's own repo is not exported, and the published core does not open an account without it.
      await (pair.direction === '→' ? look() : pair.world.offline(look))
      await user.sync()

      const other = await openKnown(pair, made)
      likeList(t, await other.wallets(), [{ id, name: 'Renommé' }])
      await other.showTransactions(id, [transaction])
      t.deepEqual(await other.noteOf(id, txid), noteThere)
    }
  }
]

/** Writes a repo of ours where deployed clients keep theirs. */
export const exportRepo = async (folder: string, keys: JsonObject): Promise<void> => {
  const io = makeNodeIo()
  const syncKey = io.crypto.fromBase64(String(keys.syncKey))
  const disk = await openFileDisk(folder)
  const repo = await openRepo({
    io,
    disk,
    repoId: repoIdOf(io, syncKey),
    syncKey: new Secret(syncKey),
    dataKey: new Secret(io.crypto.fromBase64(String(keys.dataKey))),
    report: error => {
      throw error
    }
  })
  await exportDeployedRepo(repo, disk)
  await repo.close()
  await disk.close?.()
}
