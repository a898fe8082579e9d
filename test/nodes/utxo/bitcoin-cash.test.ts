import { HDKey } from '@scure/bip32'
import { mnemonicToSeedSync } from '@scure/bip39'
import { p2pkh, Transaction } from '@scure/btc-signer'
import test from 'ava'
import { bitcoinCashLab } from './lab-nodes.ts'
import { withNode, wordsOf } from './node-lab.ts'
import { runNpmStories } from './npm-stories.ts'
import { becomes, isConfirmed, ONE, pay } from './story-steps.ts'

runNpmStories(test, bitcoinCashLab)

withNode(
  test,
  'a Bitcoin Cash node refuses a signature as Bitcoin has them, and takes ours for the same coin',
  async (t, lab) => {
    const { node } = lab
    const words = wordsOf(t)
    const owner = await lab.open(words)
    const txid = await lab.pay(await owner.address(), 1)
    const { privateKey, publicKey } = HDKey.fromMasterSeed(mnemonicToSeedSync(words)).derive(
      "m/44'/1'/0'/0/0"
    )
    if (privateKey === null || publicKey === null) return t.fail('no key')
    const { script } = p2pkh(publicKey)
    const { vout } = await node.call('getrawtransaction', txid, true)
    const index = vout.findIndex(
      ({ scriptPubKey }: { readonly scriptPubKey: { readonly hex: string } }) =>
        scriptPubKey.hex === Buffer.from(script).toString('hex')
    )
    const nonWitnessUtxo = await node.call('getrawtransaction', txid)
    const foreign = new Transaction()
    foreign.addInput({ txid, index, nonWitnessUtxo })
    foreign.addOutput({ script, amount: ONE - 10_000n })
    foreign.sign(privateKey)
    foreign.finalize()
    const refused = await t.throwsAsync(node.call('sendrawtransaction', foreign.hex))
    t.regex(refused?.message ?? '', /script-verify-flag/)
    await lab.mine(1)
    await owner.agree(t, 'confirmed')
    const own = await pay(owner, [[await node.call('getnewaddress'), ONE / 2n]])
    const { vin } = await node.call('getrawtransaction', own.txid, true)
    t.is(vin[0].txid, txid)
    // The signature is pushed first: its last byte has the fork's bit.
    const input: string = vin[0].scriptSig.hex
    t.is(input.slice(0, 2 + 2 * Number.parseInt(input.slice(0, 2), 16)).slice(-2), '41')
    await lab.mine(1)
    await becomes(t, owner, own.txid, isConfirmed)
    await owner.agree(t, 'paid')
  },
  { coin: bitcoinCashLab }
)
