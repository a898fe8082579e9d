import type { ExtendedKeyVersions, KeyFormat } from './coin-row.ts'

/** The versions of each format, from those of legacy, nested and native segwit keys. */
export const keyVersions = (
  legacy: ExtendedKeyVersions,
  nested: ExtendedKeyVersions,
  native: ExtendedKeyVersions
): Record<KeyFormat, ExtendedKeyVersions> => ({
  bip32: legacy,
  bip44: legacy,
  bip49: nested,
  bip84: native,
  // BIP-86 keeps the plain xpub bytes.
  bip86: legacy
})

/** The versions that test networks of Bitcoin and its relatives share: tpub, upub and vpub. */
export const testKeyVersions: Record<KeyFormat, ExtendedKeyVersions> = keyVersions(
  { public: 0x043587cf, private: 0x04358394 },
  { public: 0x044a5262, private: 0x044a4e28 },
  { public: 0x045f1cf6, private: 0x045f18bc }
)
