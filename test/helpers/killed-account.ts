import { setTimeout } from 'node:timers/promises'
import { createKernel } from '../../kernel/index.ts'
import { makeNodeIo } from '../../platform/node/index.ts'
import { CUT_USER, cutPlugins } from './cut-device.ts'
import { type Expected, PromiseBook } from './cut-facts.ts'
import { CUT_STORIES } from './cut-stories.ts'
import { type Death, deadlyStorage } from './deadly-storage.ts'
import { CHEAP_SNRP } from './device.ts'
import type { Medium } from './media.ts'

/** What the parent tells the process. */
export interface AccountOrder extends Death {
  readonly medium: Medium
  readonly authServer: string
  readonly infoServers: readonly string[]
  readonly syncServers: readonly string[]
  /** The name of a story. */
  readonly story: string
  readonly savings: string
  readonly spare: string
  /** What is right when it begins. */
  readonly promises: readonly Expected[]
}

// A program: `node killed-account.js <order as JSON>`. It does what the story says, prints each promise as a line of JSON,
// and kills itself without warning at the given operation.
const order = JSON.parse(process.argv[2] ?? '{}') as AccountOrder
const storage = deadlyStorage(order.medium, order)
storage.isArmed = true
// What a kernel waits for keeps no process alive.
const alive = setInterval(() => {}, 1000)
const { authServer, infoServers, syncServers, savings, spare } = order
const kernel = await createKernel({
  ...{ io: makeNodeIo(), apiKey: '', authServer, infoServers, syncServers },
  passwordSnrp: CHEAP_SNRP,
  plugins: [storage.plugin, ...cutPlugins()]
})
const book = new PromiseBook()
for (const expected of order.promises) book.expect(expected)
book.onPromise = expected => void process.stdout.write(`${JSON.stringify(expected)}\n`)
const account = await kernel.context.loginWithPassword(CUT_USER.username, CUT_USER.password)
const story = CUT_STORIES.find(({ name }) => name === order.story)
await story?.run(account, { book, savings, spare, pause: () => setTimeout(1000) })
await account.sync()
await kernel.close()
clearInterval(alive)
