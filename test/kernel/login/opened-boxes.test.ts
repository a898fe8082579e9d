import test from 'ava'
import { sealBox } from '../../../kernel/crypto/box.ts'
import { OpenedBoxes } from '../../../kernel/login/opened-boxes.ts'
import { Secret } from '../../../kernel/state/secret.ts'
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
