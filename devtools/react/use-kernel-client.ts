import { useEffect, useState } from 'react'
import type { Kernel } from '../../kernel/index.ts'
import type { DevtoolsClient } from '../core/devtools-client.ts'
import { makeKernelClient } from '../core/kernel-client.ts'
import type { WorldDriver } from '../core/world-driver.ts'

/** The client of a kernel for as long as a component is there; undefined before the first effect has run. */
export const useKernelClient = (
  kernel: Kernel,
  isReadOnly: boolean | undefined,
  world: WorldDriver | undefined
): DevtoolsClient | undefined => {
  const [client, setClient] = useState<DevtoolsClient | undefined>()
  useEffect(() => {
    const made = makeKernelClient(kernel, { isReadOnly, world })
    setClient(made)
    return () => made.close()
  }, [kernel, isReadOnly, world])
  return client
}
