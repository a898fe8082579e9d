import type { Txid } from '../../../kernel/index.ts'
import { memoryStorage } from '../../../plugins/storage/memory.ts'
import { segwitAddressesOf } from './lab-nodes.ts'
import { eventually, wordsOf } from './node-lab.ts'
import { becomes, isConfirmed, ONE, openRich, pay, payAll, type Story } from './story-steps.ts'

/** See its title. */
export const followsReorganisations: Story = {
  title: 'blocks that are replaced, one to six deep, take confirmations back and give them again',
  run: async (t, lab) => {
    const { node } = lab
    const owner = await openRich(t, lab, [1, 1, 1, 1, 1, 1])
    for (let depth = 1; depth <= 6; depth += 1) {
      const { txid } = await pay(owner, [[await node.call('getnewaddress'), ONE / 10n]])
      await lab.mine(depth)
      await becomes(t, owner, txid, isConfirmed)
      if (node.dropBlocks !== undefined) {
        await node.dropBlocks(depth)
        await lab.chain.follow()
        await becomes(t, owner, txid, tx => !isConfirmed(tx))
        await owner.agree(t, `${depth} blocks gone`)
      }
      // Empty blocks, so that the payment waits on the longer chain.
      await node.replaceBlocks(depth)
      await lab.chain.follow()
      await becomes(t, owner, txid, tx => !isConfirmed(tx))
      // What a node has forgotten, the wallet sends again.
      await eventually(async () => (await node.call('getrawmempool')).includes(txid))
      await lab.chain.follow()
      await owner.agree(t, `${depth} blocks replaced`)
      t.false(isConfirmed(await owner.wallet.getTransaction(txid)))
      await lab.mine(1)
      await becomes(t, owner, txid, isConfirmed)
      await owner.agree(t, `${depth} deep, mined again`)
    }
  }
}

/** See its title. */
export const sendsAgain: Story = {
  title: 'a payment that the node forgets is sent again, and mined',
  run: async (t, lab) => {
    const owner = await openRich(t, lab, [1])
    const { txid } = await pay(owner, [[await lab.node.call('getnewaddress'), ONE / 4n]])
    await becomes(t, owner, txid, ({ sentState }) => sentState === 'seen')
    let wasForgotten = false
    const stop = lab.chain.onChange(() => {
      wasForgotten ||= lab.chain.view.mempool.size === 0
    })
    await lab.node.restart()
    // By RPC the wallet itself is the first to see it, and sends it again at once.
    if (lab.backend === 'electrum') await eventually(() => wasForgotten)
    stop()
    await eventually(async () => (await lab.node.call('getrawmempool')).includes(txid))
    await lab.mine(1)
    await becomes(t, owner, txid, isConfirmed)
    await owner.agree(t, 'mined at last')
  }
}

/** See its title. */
export const sendsAgainFromDeep: Story = {
  title: 'a payment of a block so deep that the node forgets it with that block is sent again, and mined',
  run: async (t, lab) => {
    const { node } = lab
    const owner = await openRich(t, lab, [1])
    const { txid } = await pay(owner, [[await node.call('getnewaddress'), ONE / 4n]])
    await lab.mine(14)
    await becomes(t, owner, txid, isConfirmed)
    await owner.agree(t, 'mined')
    // A node takes payments of ten blocks back.
    await node.dropBlocks?.(14)
    await node.replaceBlocks(14)
    await lab.chain.follow()
    await eventually(async () => (await node.call('getrawmempool')).includes(txid))
    await lab.mine(1)
    await becomes(t, owner, txid, isConfirmed)
    await owner.agree(t, 'mined again')
  }
}

/** See its title. */
export const forgetsIncoming: Story = {
  title: 'an incoming payment that the node forgets is counted no longer, until it comes again',
  run: async (t, lab) => {
    const owner = await openRich(t, lab, [1])
    const txid = await lab.pay(await owner.address(), 0.5)
    await owner.agree(t, 'unconfirmed')
    t.is(owner.balances().untrusted_pending, String(ONE / 2n))
    const bytes = await lab.node.call('getrawtransaction', txid)
    await lab.node.restart()
    await lab.chain.follow()
    await owner.agree(t, 'forgotten')
    t.is(owner.balances().untrusted_pending, '0')
    await lab.node.call('sendrawtransaction', bytes)
    await lab.chain.follow()
    await owner.agree(t, 'there again')
    await lab.mine(1)
    await becomes(t, owner, txid, isConfirmed)
    await owner.agree(t, 'mined')
    t.is(owner.balances().trusted, String(ONE + ONE / 2n))
  }
}

/** See its title. */
export const seesWaiting: Story = {
  title: 'a payment that waits already when the wallet is opened is counted, and confirmed by the next block',
  run: async (t, lab) => {
    const words = wordsOf(t)
    const [address = ''] = await segwitAddressesOf(lab.node, words, 1)
    const txid = await lab.pay(address, 3)
    const owner = await lab.open(words)
    await eventually(() => owner.balances().untrusted_pending === String(3n * ONE))
    t.is((await owner.wallet.getTransaction(txid as Txid)).confirmations, 'unconfirmed')
    await lab.mine(1)
    await becomes(t, owner, txid as Txid, isConfirmed)
    await owner.agree(t, 'confirmed')
  }
}

/** See its title. */
export const waitsForCoinbase: Story = {
  title: 'a block’s own coins can be spent after a hundred blocks, and are told apart before',
  run: async (t, lab) => {
    const owner = await lab.open(wordsOf(t))
    await lab.mine(1, await owner.address())
    await owner.agree(t, 'mined')
    t.not(owner.balances().immature, '0')
    await lab.mine(98)
    await owner.agree(t, 'a block too early')
    t.not(owner.balances().immature, '0')
    // What the next block may spend, the node relays, and its own wallet calls immature for one block more.
    await lab.mine(1)
    await eventually(() => owner.balances().immature === '0')
    t.not((await owner.nodeBalances()).immature, '0')
    const { txid } = await pay(owner, [[await lab.node.call('getnewaddress'), ONE]])
    t.true((await lab.node.call('getrawmempool')).includes(txid))
    await lab.mine(1)
    await owner.agree(t, 'spent')
    await becomes(t, owner, txid, isConfirmed)
  }
}

/** See its title. */
export const restartsOffline: Story = {
  title: 'a restart without the server shows the same money and history',
  run: async (t, lab) => {
    const storage = memoryStorage(new Map())
    const words = wordsOf(t)
    const owner = await lab.open(words, { storage })
    await lab.pay(await owner.address(), 2)
    await lab.mine(1)
    await owner.agree(t, 'rich')
    const { txid } = await pay(owner, [[await lab.node.call('getnewaddress'), ONE]])
    await owner.agree(t, 'paid')
    const [balances, count] = [owner.balances(), (await owner.wallet.getTransactions()).length]
    await owner.kernel.close()
    const again = await lab.reopen(owner, { storage, isOffline: true })
    await eventually(() => again.balances().trusted === balances.trusted)
    t.deepEqual(again.balances(), balances)
    t.is((await again.wallet.getTransactions()).length, count)
    t.is((await again.wallet.getTransaction(txid)).txid, txid)
  }
}

/** See its title. */
export const restartsAfterReorganisation: Story = {
  title: 'deep blocks that are replaced while the wallet is closed take confirmations back at the next start',
  run: async (t, lab) => {
    const { node } = lab
    const storage = memoryStorage(new Map())
    const words = wordsOf(t)
    const owner = await lab.open(words, { storage })
    await lab.pay(await owner.address(), 2)
    await lab.mine(16)
    await owner.agree(t, 'rich')
    const { txid } = await pay(owner, [[await node.call('getnewaddress'), ONE]])
    // A node takes payments of ten blocks back, and the wallet reads ten blocks again at each look.
    await lab.mine(9)
    await owner.agree(t, 'paid')
    // It notes up to which block all is known.
    await owner.wallet.sync()
    await owner.kernel.close()
    await node.dropBlocks?.(12)
    await node.replaceBlocks(12)
    await lab.chain.follow()
    const again = await lab.reopen(owner, { storage, isOffline: false })
    await becomes(t, again, txid, tx => !isConfirmed(tx))
    await eventually(async () => (await node.call('getrawmempool')).includes(txid))
    await lab.mine(1)
    await becomes(t, again, txid, isConfirmed)
    await again.agree(t, 'mined again')
  }
}

/** See its title. */
export const findsThousand: Story = {
  title: 'a thousand used addresses with a thousand coins are found, and spent in one payment',
  run: async (t, lab) => {
    const { node } = lab
    const words = wordsOf(t)
    const first = await lab.open(words)
    const addresses = await segwitAddressesOf(node, words, 1000)
    t.is(addresses[0], await first.address())
    for (let at = 0; at < 1000; at += 100) {
      const amounts = Object.fromEntries(addresses.slice(at, at + 100).map(address => [address, 0.01]))
      const txid = await node.call('sendmany', '', amounts)
      await node.call('sendrawtransaction', (await node.call('gettransaction', txid)).hex)
      await lab.mine(1)
    }
    // By Esplora each address is asked for by itself, four at a time.
    await first.agree(t, 'found while they came', LONG_MS)
    t.is(first.balances().trusted, String(10n * ONE))
    const payee = await node.call('getnewaddress')
    const { txid, most } = await payAll(first, payee)
    const { vin } = await node.call('getrawtransaction', txid, true)
    t.is(vin.length, 1000)
    await first.agree(t, 'spent', LONG_MS)
    await lab.mine(1)
    t.is(Math.round((await node.call('getreceivedbyaddress', payee)) * 1e8), Number(most))
  }
}

const LONG_MS = 600_000
