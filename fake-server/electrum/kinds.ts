/** How a kind of Electrum server differs from the others: data, which a session follows. */
export interface ServerKind {
  readonly software: string
  /** The lowest and the highest version of the protocol. */
  readonly versions: readonly [string, string]
  /** True of one that agrees on its highest version whatever a client asks for. */
  readonly isDeaf?: boolean
  /** True of one that ends the connection when it reads two versions. */
  readonly readsOneVersion?: boolean
  /** The most items of a batch; 0: a batch ends the connection without an answer. */
  readonly maxBatch: number
  /** True if an error is a text, and no object. */
  readonly hasTextErrors?: boolean
  /** Methods that it does not know. */
  readonly lacks: readonly string[]
  /** True of one that refuses parameters of which later versions of the protocol know. */
  readonly hasNoCheckpoints?: boolean
  /** What becomes of a history that is too long: an error of a number, no history at all, or the end of the connection. */
  readonly tooLong: number | 'closed' | 'empty'
  /** True if the status of a used script is pushed before its subscription is answered. */
  readonly notifiesEarly?: boolean
  /** Letters below which replies wait for others, so that their lengths tell an eavesdropper less. */
  readonly holdsBelow?: number
  /** What becomes of a subscription beyond the limit: the words of Fulcrum or those of the fake server's own, or the end of the connection. */
  readonly atLimit?: 'closed' | 'exhausted' | 'refused'
  /** What a client may cost before the connection ends, and what one error does. */
  readonly cost?: { readonly limit: number; readonly error: number }
}

const UNSUBSCRIBE = 'blockchain.scripthash.unsubscribe'
const MEMPOOL = 'blockchain.scripthash.get_mempool'

type KindName = 'blockstream' | 'electrumx' | 'fulcrum' | 'mempool' | 'ours' | 'personal' | 'romanz'

/** The kinds of servers on real networks, by their names; `ours` is the fake server's own. */
export const serverKinds: Readonly<Record<KindName, ServerKind>> = {
  ours: {
    software: 'Holdfast fake chain 1.0',
    versions: ['1.4', '1.6'],
    maxBatch: 5000,
    lacks: [],
    tooLong: 1
  },
  electrumx: {
    ...{ software: 'ElectrumX 1.18.0', versions: ['1.4', '1.6'], maxBatch: 5000, lacks: [], tooLong: 10001 },
    ...{ holdsBelow: 1024, cost: { limit: 10_000, error: 100 }, atLimit: 'exhausted' }
  },
  fulcrum: {
    ...{ software: 'Fulcrum 2.1.1', versions: ['1.4', '1.6'], maxBatch: 345, lacks: [] },
    ...{ tooLong: 'empty', notifiesEarly: true, atLimit: 'refused' }
  },
  romanz: {
    ...{ software: 'electrs/0.11.1', versions: ['1.4', '1.4'], maxBatch: 5000, lacks: [MEMPOOL] },
    ...{ hasNoCheckpoints: true, tooLong: 1 }
  },
  blockstream: {
    ...{ software: 'electrs-esplora 0.4.1', versions: ['1.4', '1.4'], isDeaf: true, maxBatch: 0 },
    ...{ lacks: [UNSUBSCRIBE, MEMPOOL], hasTextErrors: true, tooLong: 'closed' }
  },
  mempool: {
    ...{ software: 'mempool-electrs 3.2.0', versions: ['1.4', '1.4'], isDeaf: true, maxBatch: 5000 },
    ...{ lacks: [UNSUBSCRIBE, MEMPOOL], hasTextErrors: true, tooLong: 'closed' }
  },
  personal: {
    ...{
      software: 'ElectrumPersonalServer 0.2.4',
      versions: ['1.4', '1.4'],
      readsOneVersion: true,
      maxBatch: 0
    },
    ...{ lacks: [UNSUBSCRIBE, MEMPOOL], tooLong: 1 }
  }
}
