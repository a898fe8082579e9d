declare const flavour: unique symbol

/**
 * Text with a flavour: any text may be given for it, but no text of another flavour, so that two ids of different kinds
 * cannot change places. The field exists for the compiler only.
 */
type Flavoured<Flavour extends string> = string & { readonly [flavour]?: Flavour }

/** The id of a wallet: base64 of 32 bytes (protocol §1.7). */
export type WalletId = Flavoured<'WalletId'>

/** The id of a transaction, as its chain writes it. */
export type Txid = Flavoured<'Txid'>

/** The id of a plugin, such as `bitcoin`. */
export type PluginId = Flavoured<'PluginId'>

/** The id of a token of a chain, such as its contract address. The chain's own coin has none: null stands for it. */
export type TokenId = Flavoured<'TokenId'>

/** The id of a login in base64, as the server and the stash have it. */
export type LoginId = Flavoured<'LoginId'>

/** The id of a login in base58, as this device names its files and its users. */
export type LocalLoginId = Flavoured<'LocalLoginId'>

/** A username in its one spelling, as `normalizeUsername` gives it. */
export type Username = Flavoured<'Username'>

/** The name that hides a text, such as a txid, from a server that sees file names only (protocol §1.7). */
export type FileHash = Flavoured<'FileHash'>
