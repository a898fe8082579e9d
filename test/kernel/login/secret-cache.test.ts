import test from 'ava'
import { Secret } from '../../../kernel/base/secret.ts'
import { sealBox } from '../../../kernel/crypto/box.ts'
import { SecretCache } from '../../../kernel/login/secret-cache.ts'
import type { SecretWalletInfo, WalletKeys } from '../../../kernel/types/keys.ts'
import { makeNodeIo } from '../../../platform/node/index.ts'

const io = makeNodeIo()

test('a box is opened once for its key, and its cached text is never returned for another key', t => {
  const opened = new SecretCache(io)
  const [key, other] = [new Secret(io.random(32)), new Secret(io.random(32))]
  const box = key.use(bytes => sealBox(io, bytes, io.random(32)))
  const secret = opened.openBytes(key, box)
  t.is(opened.openBytes(key, { ...box }), secret)
  t.throws(() => opened.openBytes(other, box), { code: 'INVALID_CHECKSUM' })
  opened.destroy()
  t.false(secret.isAlive)
})

test('keys of an old wallet type are one secret however often the tree is built, and new keys are another', t => {
  const opened = new SecretCache(io)
  const infoOf = (keys: WalletKeys): SecretWalletInfo => ({
    id: 'x',
    type: 'wallet:bitcoin-bip44',
    appIds: [],
    keys: opened.add(new Secret(keys))
  })
  const info = infoOf({ bitcoinKey: 'one' })
  const fixed = opened.withKnownType(info)
  t.is(fixed.type, 'wallet:bitcoin')
  t.deepEqual(
    fixed.keys.use(keys => ({ ...keys })),
    { format: 'bip44', coinType: 0, bitcoinKey: 'one' }
  )
  t.is(opened.withKnownType(info).keys, fixed.keys)
  t.not(opened.withKnownType(infoOf({ bitcoinKey: 'one' })).keys, fixed.keys)
  const modern = { ...info, type: 'wallet:litecoin2' }
  t.is(opened.withKnownType(modern), modern)
  opened.destroy()
  t.false(fixed.keys.isAlive)
})
