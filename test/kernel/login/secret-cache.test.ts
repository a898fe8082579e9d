import test from 'ava'
import { Secret } from '../../../kernel/base/secret.ts'
import { sealBox } from '../../../kernel/crypto/box.ts'
import { OpenedBoxes } from '../../../kernel/login/secret-cache.ts'
import type { SecretWalletInfo, WalletKeys } from '../../../kernel/types/keys.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'

const io = makeNodeIo()

test('a box is opened once for its key, and what one key opened is not shown for another', t => {
  const opened = new OpenedBoxes(io)
  const [key, other] = [new Secret(io.random(32)), new Secret(io.random(32))]
  const box = key.use(bytes => sealBox(io, bytes, io.random(32)))
  const secret = opened.bytesOf(key, box)
  t.is(opened.bytesOf(key, { ...box }), secret)
  t.throws(() => opened.bytesOf(other, box), { code: 'INVALID_CHECKSUM' })
  opened.destroy()
  t.false(secret.isAlive)
})

test('keys of an old wallet type are one secret however often the tree is built, and new keys are another', t => {
  const opened = new OpenedBoxes(io)
  const infoOf = (keys: WalletKeys): SecretWalletInfo => ({
    id: 'x',
    type: 'wallet:bitcoin-bip44',
    appIds: [],
    keys: opened.adopt(new Secret(keys))
  })
  const info = infoOf({ bitcoinKey: 'one' })
  const fixed = opened.fixed(info)
  t.is(fixed.type, 'wallet:bitcoin')
  t.deepEqual(
    fixed.keys.use(keys => ({ ...keys })),
    { format: 'bip44', coinType: 0, bitcoinKey: 'one' }
  )
  t.is(opened.fixed(info).keys, fixed.keys)
  t.not(opened.fixed(infoOf({ bitcoinKey: 'one' })).keys, fixed.keys)
  const modern = { ...info, type: 'wallet:litecoin2' }
  t.is(opened.fixed(modern), modern)
  opened.destroy()
  t.false(fixed.keys.isAlive)
})
