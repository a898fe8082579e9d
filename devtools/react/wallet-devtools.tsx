import { type ReactElement, useCallback, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import type { FakeWorldControl } from '../../app/actions/world-control.ts'
import type { Kernel } from '../../kernel/index.ts'
import type { DevtoolsClient } from '../core/client/client.ts'
import { makeKernelClient } from '../core/kernel-client.ts'
import { Panel } from './frame/panel.tsx'
import { applyStyles } from './frame/styles.ts'
import type { DevtoolsProps } from './mount-devtools.tsx'

/**
 * The devtools of a kernel as a part of a React application, in a shadow root of their own.
 *
 * The address of the page is the application's, so they leave it alone unless `isLinked` says otherwise.
 *
 * @throws TypeError (to the nearest error boundary) if the kernel was made without devtools
 */
export const WalletDevtools = ({
  kernel,
  isReadOnly,
  world,
  ...looks
}: DevtoolsProps & { readonly kernel: Kernel }): ReactElement => {
  const client = useKernelClient(kernel, isReadOnly, world)
  const [root, setRoot] = useState<ShadowRoot | undefined>()
  const attach = useCallback((host: HTMLDivElement | null) => {
    if (host === null) return
    const made = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
    applyStyles(made)
    setRoot(made)
  }, [])
  return (
    // The application's rules for its own elements are not about this one.
    <div ref={attach} style={{ all: 'initial', display: 'block', blockSize: '100%' }}>
      {root === undefined || client === undefined
        ? null
        : createPortal(<Panel isLinked={false} {...looks} client={client} />, root)}
    </div>
  )
}

/** The client of a kernel for as long as a component is there; undefined before the first effect has run. */
const useKernelClient = (
  kernel: Kernel,
  isReadOnly: boolean | undefined,
  world: FakeWorldControl | undefined
): DevtoolsClient | undefined => {
  const [client, setClient] = useState<DevtoolsClient | undefined>()
  useEffect(() => {
    const made = makeKernelClient(kernel, { isReadOnly, world })
    setClient(made)
    return () => made.close()
  }, [kernel, isReadOnly, world])
  return client
}
