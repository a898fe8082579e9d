/// <reference lib="dom" />
// A web page whose plugins by others run in cells. The page serves holdfast/browser/cell-frame.html beside itself.
import { createKernel, type Kernel, type KernelOptions } from 'holdfast'
import { openPageCells } from 'holdfast/browser/cells'

/** A plugin by somebody else: one file, its hash when it was added, and what the user agreed to. */
export interface AddedPlugin {
  readonly id: string
  readonly address: string
  readonly sha512: string
  readonly asks: {
    readonly kind: 'currency' | 'observer' | 'policy' | 'rates' | 'swap'
    readonly hosts: readonly string[]
    readonly keys: boolean
  }
}

/** Opens a kernel with plugins by others besides those of the options. */
export const openWithPlugins = async (
  options: KernelOptions,
  added: readonly AddedPlugin[],
  log: Pick<Console, 'debug' | 'error' | 'info' | 'warn'> = console
): Promise<{ readonly kernel: Kernel; close(): Promise<void> }> => {
  const cells = openPageCells({
    frame: 'cell-frame.html',
    log,
    onFault: ({ pluginId, reason, state }) => log.warn(`${pluginId} is ${state}: ${reason}`)
  })
  // A plugin that cannot be loaded fails alone, with its reason in its snapshot.
  const contained = added.map(({ address, ...plugin }) => async () => {
    const code = await (await fetch(address)).text()
    return cells.plugin({ ...plugin, code })
  })
  const kernel = await createKernel({ ...options, plugins: [...options.plugins, ...contained] })
  const close = async (): Promise<void> => {
    await kernel.close()
    cells.close()
  }
  return { kernel, close }
}
