import type { Clock, Io } from '../../kernel/io/io.ts'
import { makeNodeIo } from '../../platform/node/index.ts'

/** An Io for tests of repos: that of Node, with the given clock and without a network unless one is given. */
export const makeRepoIo = (parts: { clock?: Clock; fetch?: Io['fetch'] } = {}): Io => ({
  ...makeNodeIo(),
  fetch: async () => {
    throw new Error('There is no network in this test')
  },
  ...parts
})
