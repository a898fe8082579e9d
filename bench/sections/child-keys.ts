import { HDKey } from '@scure/bip32'
import { deriveChildKeys } from '../../plugins/currency/utxo/keys/child-keys.ts'
import { race } from '../race.ts'
import { atLeast, check, rowOf, type Section } from '../section.ts'

/** Public child keys against @scure/bip32, in batches of 100 as a gap-limit scan derives them. */
export const childKeySpeed: Section = async () => {
  const branch = HDKey.fromMasterSeed(new Uint8Array(32).fill(7)).derive("m/84'/0'/0'/0")
  const { publicKey, chainCode, publicExtendedKey } = branch
  if (publicKey === null || chainCode === null) throw new Error('The key has no public part')
  const theirs = HDKey.fromExtendedKey(publicExtendedKey)
  let start = 0
  const scure = (): (Uint8Array | null)[] =>
    Array.from({ length: BATCH }, (_, i) => theirs.deriveChild(start + i).publicKey)
  const ours = (): (Uint8Array | undefined)[] => deriveChildKeys({ publicKey, chainCode }, start, BATCH)
  const next = (): void => {
    start += BATCH
  }
  const result = await race(
    [
      { name: 'scure', run: scure, batch: BATCH, sampleMs: 120 },
      { name: 'ours', run: ours, after: next, batch: BATCH, sampleMs: 120 }
    ],
    { rounds: 15 }
  )
  const expected = scure()
  const found = ours()
  check(
    expected.every((key, i) => Buffer.from(key ?? []).equals(found[i] ?? new Uint8Array())),
    'the child keys'
  )
  const ratio = result.ratio('scure', 'ours')
  const perSecond = (name: string): number => 1000 / result.cost(name).cpuMs
  return {
    rows: [
      rowOf('one child key, @scure/bip32', result.cost('scure'), {
        facts: { 'per CPU second': perSecond('scure') }
      }),
      rowOf('one child key, ours', result.cost('ours'), {
        facts: { 'per CPU second': perSecond('ours') },
        goals: [atLeast('at least 2.5 times @scure/bip32', ratio, 2.5)]
      })
    ],
    notes: ['All keys of the last batch are compared byte by byte.']
  }
}

const BATCH = 100
