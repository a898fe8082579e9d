import type { Kernel } from '../../kernel/index.ts'
import { type KernelClientOptions, makeKernelClient } from '../core/kernel-client.ts'
import type { PanelProps } from './frame/panel.tsx'
import { mountPanel } from './mount-panel.tsx'

/** Options of the devtools of a kernel in the same page, and their looks. */
export type DevtoolsProps = KernelClientOptions & Omit<PanelProps, 'client'>

/** Devtools that stand in a page. */
export interface MountedDevtools {
  /** Draws them anew with other looks; those left out stay. */
  readonly update: (looks: Omit<PanelProps, 'client'>) => void
  /** Takes them out of the page. What was drafted is declined; the kernel stays as it is. */
  readonly unmount: () => void
}

/**
 * Puts the devtools of a kernel into an element of its page, in a shadow root of their own. It works without React around it.
 *
 * @throws TypeError if the kernel was made without devtools, or if the element has a shadow root already
 */
export const mountDevtools = (
  element: HTMLElement,
  kernel: Kernel,
  { isReadOnly, world, ...looks }: DevtoolsProps = {}
): MountedDevtools => {
  const client = makeKernelClient(kernel, { isReadOnly, world })
  try {
    const { update, unmount } = mountPanel(element, { ...looks, client })
    return {
      update,
      unmount() {
        unmount()
        client.close()
      }
    }
  } catch (error) {
    client.close()
    throw error
  }
}
