/// <reference lib="dom" />
// Runs in a browser: the standalone devtools without their panel, shown to a test.

import type { ActionHandler } from '../../../app/actions/actions.ts'
import type { DevtoolsClient } from '../../../devtools/core/client/client.ts'
import { makeKernelClient } from '../../../devtools/core/kernel-client.ts'
import type { SliceName } from '../../../devtools/core/model/slices.ts'
import { openStandalone } from '../../../devtools/standalone/open-standalone.ts'
import { isWalletError } from '../../../kernel/base/errors.ts'
import { makeBrowserIo } from '../../../platform/browser/index.ts'

/** What the page offers, as `globalThis.standalone`. */
export interface StandalonePage {
  /** Gives the code of the error, if it could not be opened. */
  open(): Promise<string | undefined>
  readonly runAction: ActionHandler
  /** Waits until a row of a table is as it should be, and gives it; fails after 20 seconds. */
  find(slice: SliceName, wanted: Readonly<Record<string, unknown>>): Promise<unknown>
}

let client: DevtoolsClient | undefined

const opened = (): DevtoolsClient => {
  if (client === undefined) throw new Error('It is not open')
  return client
}

const standalone: StandalonePage = {
  async open() {
    try {
      const io = makeBrowserIo()
      const passwordSnrp = { cost: { n: 16, r: 1, p: 1 } }
      const { kernel, world } = await openStandalone({ io, name: 'test', passwordSnrp })
      client = makeKernelClient(kernel, { world })
      while (client.status.getSnapshot().connection !== 'live')
        await new Promise(resolve => setTimeout(resolve, 10))
      return undefined
    } catch (error) {
      if (isWalletError(error)) return error.code
      throw error
    }
  },
  runAction: (name, input) => opened().runAction(name, input),
  async find(slice, wanted) {
    const isWanted = (row: object): boolean =>
      Object.entries(wanted).every(
        ([key, value]) => JSON.stringify((row as never)[key]) === JSON.stringify(value)
      )
    for (let turn = 0; turn < 400; turn += 1) {
      const row = [...opened().view.getSnapshot()[slice].values()].find(isWanted)
      if (row !== undefined) return row
      await new Promise(resolve => setTimeout(resolve, 50))
    }
    throw new Error(
      `No ${slice} with ${JSON.stringify(wanted)}: ${JSON.stringify([...opened().view.getSnapshot()[slice]])}`
    )
  }
}

Object.assign(globalThis, { standalone })
