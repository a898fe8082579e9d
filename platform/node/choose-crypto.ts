import { scryptSync } from 'node:crypto'
import { makeNobleCrypto } from '../../kernel/crypto/noble-crypto.ts'
import type { CryptoPort } from '../../kernel/io/io.ts'
import { passesSelfTest } from './crypto-self-test.ts'
import { nodeClock } from './node-clock.ts'
import { makeNodeCrypto } from './node-crypto.ts'

/**
 * The crypto backend of this process (architecture decision 15).
 *
 * Node's own, unless it fails the known answers: builds in FIPS mode lack primitives, and hooks may replace them.
 */
export const chooseCrypto = (wish: 'native' | 'noble'): CryptoPort => {
  if (wish === 'native') {
    const native = makeNodeCrypto()
    if (passesSelfTest(native, (data, salt) => scryptSync(data, salt, 32, { N: 16, r: 1, p: 1 })))
      return native
  }
  return makeNobleCrypto(nodeClock)
}
