import { WalletError } from '../../../../kernel/plugin-api.ts'
import type { KeyFormat } from '../params/coin.ts'

/** An account as an output descriptor names it. */
export interface DescribedAccount {
  readonly format: KeyFormat
  /** Extended, public or private. */
  readonly key: string
}

/** Checks if a text is meant as an output descriptor. */
export const isDescriptor = (text: string): boolean => /^[a-z]{2,20}\(/.test(text)

/**
 * Reads an output descriptor (BIP-380 to 386, 389) of one key whose addresses are those of an account: `pkh`, `wpkh`, `sh(wpkh(…))`
 * or `tr`, with the path `/0/*` or `/<0;1>/*` behind the key. A checksum is compared where there is one.
 *
 * @throws KEY_INTEGRITY with the reason for any other; the message never quotes the key
 *
 * @example
 * ```ts
 * readDescriptor('wpkh([d34db33f/84h/0h/0h]xpub…/<0;1>/*)').format // 'bip84'
 * ```
 */
export const readDescriptor = (text: string): DescribedAccount => {
  const [described = '', checksum, ...others] = text.split('#')
  if (/\s/.test(text)) throw refused('a descriptor has no spaces')
  if (others.length > 0 || (checksum !== undefined && checksum !== checksumOf(described)))
    throw refused('the descriptor is mistyped or cut off: its checksum is wrong')
  const name = Object.keys(FORMATS).find(form => described.startsWith(`${form}(`))
  if (name === undefined) throw refused(UNKNOWN[nameOf(described)] ?? `it has the form ${nameOf(described)}`)
  const end = ')'.repeat(name.split('(').length)
  const inner = described.slice(name.length + 1, -end.length)
  const [, key, path] = INNER.exec(inner) ?? []
  if (key === undefined || !described.endsWith(end)) throw refused('it is not of one extended key')
  if (path !== '/0/*' && path !== '/<0;1>/*')
    throw refused(
      'its path must be /0/* or /<0;1>/*: a wallet receives on the first and keeps its change on the second'
    )
  return { format: FORMATS[name as keyof typeof FORMATS], key }
}

const FORMATS = { pkh: 'bip44', wpkh: 'bip84', 'sh(wpkh': 'bip49', tr: 'bip86' } as const

const UNKNOWN: Readonly<Record<string, string>> = {
  multi: 'it is of several keys',
  sortedmulti: 'it is of several keys',
  wsh: 'it is of a script',
  sh: 'it is of a script',
  combo: 'it has addresses of several kinds, and a wallet has one: give the descriptor of one kind',
  addr: 'it is of a single address, and a wallet has many',
  raw: 'it is of a single script',
  rawtr: 'it is of a single script'
}

const nameOf = (text: string): string => /^[a-z]*/.exec(text)?.[0] ?? ''

/** The origin of the key, the key, and the path below it. */
const INNER = /^(?:\[[0-9a-f]{8}(?:\/\d{1,10}['hH]?)*\])?([1-9A-HJ-NP-Za-km-z]{104,116})(\/.*)?$/

const refused = (reason: string): WalletError =>
  new WalletError('KEY_INTEGRITY', { rule: `the descriptor cannot be used: ${reason}` })

// The code of BIP-380: a polynomial over 32 signs, with the three upper bits of each sign packed between them.
const SIGNS =
  '0123456789()[],\'/*abcdefgh@:$%{}IJKLMNOPQRSTUVWXYZ&+-.;<=>?!^_|~ijklmnopqrstuvwxyzABCDEFGH`#"\\ '
const CHECKSUM_SIGNS = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l'
const GENERATOR = [0xf5dee51989n, 0xa9fdca3312n, 0x1bab10e32dn, 0x3706b1677an, 0x644d626ffdn]

/** The checksum of a descriptor without one; '' if it has a sign that no descriptor has. */
const checksumOf = (text: string): string => {
  const symbols: number[] = []
  let groups: number[] = []
  for (const sign of text) {
    const at = SIGNS.indexOf(sign)
    if (at < 0) return ''
    symbols.push(at & 31)
    groups.push(at >> 5)
    if (groups.length === 3) {
      symbols.push(packed(groups))
      groups = []
    }
  }
  if (groups.length > 0) symbols.push(packed(groups))
  const rest = remainderOf([...symbols, ...Array<number>(8).fill(0)]) ^ 1n
  return Array.from(
    { length: 8 },
    (_, at) => CHECKSUM_SIGNS[Number((rest >> BigInt(5 * (7 - at))) & 31n)]
  ).join('')
}

const packed = (groups: readonly number[]): number => groups.reduce((sum, group) => sum * 3 + group, 0)

const remainderOf = (symbols: readonly number[]): bigint => {
  let rest = 1n
  for (const symbol of symbols) {
    const top = rest >> 35n
    rest = ((rest & 0x7ffffffffn) << 5n) ^ BigInt(symbol)
    for (const [at, each] of GENERATOR.entries()) if (((top >> BigInt(at)) & 1n) === 1n) rest ^= each
  }
  return rest
}
