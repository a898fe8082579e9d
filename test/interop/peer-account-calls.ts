import type { CredentialCalls, DuressCalls, Note, TwoFactorCalls, WalletCalls } from './device.ts'
import { accountOf, type CoreWallet, type PeerSession } from './peer-core.ts'
import type { TestWorldCalls } from './peer-messages.ts'

/** Changes of an account by the published core. */
export const peerCredentialCalls = (session: PeerSession): CredentialCalls => {
  const mine = () => accountOf(session)
  return {
    checkPassword: password => mine().checkPassword(password),
    changePassword: password => mine().changePassword(password),
    deletePassword: () => mine().deletePassword(),
    getPin: () => mine().getPin(),
    checkPin: pin => mine().checkPin(pin),
    async changePin(change) {
      await mine().changePin(change)
    },
    deletePin: () => mine().deletePin(),
    changeRecovery: (questions, answers) => mine().changeRecovery(questions, answers),
    deleteRecovery: () => mine().deleteRecovery(),
    changeUsername: change => mine().changeUsername(change),
    deleteRemoteAccount: () => mine().deleteRemoteAccount()
  }
}

/** Two-factor, vouchers and lobbies of the published core. */
export const peerTwoFactorCalls = (session: PeerSession): TwoFactorCalls => {
  const mine = () => accountOf(session)
  const requestOf = async (lobbyId: string) => {
    const { loginRequest } = await mine().fetchLobby(lobbyId)
    if (loginRequest === undefined) throw new Error('Nobody asks for a login there')
    return loginRequest
  }
  return {
    async twoFactor() {
      const { otpKey, otpResetDate, pendingVouchers = [] } = mine()
      return {
        ...(otpKey === undefined ? {} : { otpKey }),
        ...(otpResetDate === undefined ? {} : { otpResetDate }),
        vouchers: pendingVouchers
      }
    },
    enableOtp: timeoutSeconds => mine().enableOtp(timeoutSeconds),
    disableOtp: () => mine().disableOtp(),
    cancelOtpReset: () => mine().cancelOtpReset(),
    repairOtp: otpKey => mine().repairOtp(otpKey),
    approveVoucher: voucherId => mine().approveVoucher(voucherId),
    rejectVoucher: voucherId => mine().rejectVoucher(voucherId),
    async appOfLobby(lobbyId) {
      const { appId, displayName } = await requestOf(lobbyId)
      return { appId, displayName }
    },
    approveEdgeLogin: async lobbyId => (await requestOf(lobbyId)).approve()
  }
}

/** The second account of version 2. */
export const peerDuressCalls = (session: PeerSession): DuressCalls => ({
  async changeDuressPin(pin) {
    await accountOf(session).changePin({ pin, forDuressAccount: true })
  },
  isUnderDuress: async () => accountOf(session).isDuressAccount === true
})

/** A test world that the peer brings along. */
export const peerTestWorldCalls = (session: PeerSession): TestWorldCalls => ({
  async dumpUser() {
    const user = await session.world?.dumpFakeUser(accountOf(session))
    return JSON.parse(JSON.stringify(user))
  }
})

// The test phrase of BIP-39 and the first address that BIP-84 derives from it, on regtest.
const MNEMONIC = `${'abandon '.repeat(11)}about`
const FIRST_ADDRESS = 'bcrt1qcr8te4kr609gcawutmrza0j4xv80jy8zeqchgx'

/** Wallets of the published core. They have the keys of the test phrase, and no chain. */
export const peerWalletCalls = (session: PeerSession): WalletCalls => {
  const mine = () => accountOf(session)
  const walletOf = (walletId: string): Promise<CoreWallet> => mine().waitForCurrencyWallet(walletId)
  return {
    async createWallet({ format, ...options }) {
      const keyOptions = { bitcoinKey: MNEMONIC, format, coinType: 0 }
      return (await mine().createCurrencyWallet('wallet:bitcoin', { ...options, keyOptions })).id
    },
    wallets: () =>
      Promise.all(
        mine().activeWalletIds.map(async walletId => {
          const { id, type, name, fiatCurrencyCode } = await walletOf(walletId)
          return { id, type, name, fiatCurrencyCode }
        })
      ),
    rawPrivateKey: walletId => mine().getRawPrivateKey(walletId),
    renameWallet: async (walletId, name) => (await walletOf(walletId)).renameWallet(name),
    receiveAddress: async () => FIRST_ADDRESS,
    async showTransactions(walletId, transactions) {
      const { disklet } = await walletOf(walletId)
      session.currencies.show(walletId, transactions)
      if (session.place.version !== '1.14.0') return
      // It makes a file for each incoming one by itself, which must not come over what a test writes next.
      const incoming = transactions.filter(({ nativeAmount }) => !nativeAmount.startsWith('-'))
      const txids = new Set(incoming.map(({ txid }) => txid))
      const countIn = async (folder: string): Promise<number> =>
        Object.keys(await disklet.list(folder)).length
      while ((await countIn('transaction')) + (await countIn('Transactions')) < txids.size) {
        await new Promise(resolve => setTimeout(resolve, 5))
      }
    },
    async noteOf(walletId, txid) {
      const list = await (await walletOf(walletId)).getTransactions(ALL)
      const found = list.find(transaction => transaction.txid === txid)
      if (found === undefined) throw new Error(`There is no transaction ${txid}`)
      return writtenOf(found.metadata)
    },
    async writeNote(walletId, txid, metadata) {
      const wallet = await walletOf(walletId)
      if (session.place.version === '1.14.0') await wallet.saveTxMetadata(txid, 'BTC', metadata)
      else await wallet.saveTxMetadata({ txid, tokenId: null, metadata })
    },
    async sync() {
      await mine().sync()
      for (const walletId of mine().activeWalletIds) await (await walletOf(walletId)).sync()
    }
  }
}

const ALL = { tokenId: null }

/** What a user wrote, without what the core adds. */
const writtenOf = ({ name, category, notes }: Note = {}): Note => ({
  ...(name === undefined ? {} : { name }),
  ...(category === undefined ? {} : { category }),
  ...(notes === undefined ? {} : { notes })
})
