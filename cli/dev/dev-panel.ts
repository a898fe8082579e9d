import type { DevtoolsServer } from '../../devtools/server/serve-devtools.ts'

/** Options of {@link DevPanel}. */
export interface DevPanelOptions {
  serve(): Promise<Pick<DevtoolsServer, 'close' | 'url'>>
  /** Opens a browser at an address. @returns removes what leads it there */
  browse(url: string): () => void
}

/** The devtools of a session, served once they are wanted. */
export class DevPanel {
  readonly #options: DevPanelOptions
  #server: ReturnType<DevPanelOptions['serve']> | undefined
  #forget = (): void => {}
  #url: string | undefined

  constructor(options: DevPanelOptions) {
    this.#options = options
  }

  /** The address at one plugin, a secret; undefined before it is open. */
  get url(): string | undefined {
    return this.#url
  }

  /** Serves the devtools and opens a browser at the calls of a plugin. What fails is tried again the next time. */
  async open(pluginId: string): Promise<void> {
    const server = this.#server ?? this.#options.serve()
    this.#server = server
    try {
      this.#url = `${(await server).url}/plugins/${encodeURIComponent(pluginId)}`
    } catch (error) {
      if (this.#server === server) this.#server = undefined
      throw error
    }
    this.#forget()
    this.#forget = this.#options.browse(this.#url)
  }

  async close(): Promise<void> {
    this.#forget()
    await (await this.#server?.catch(() => undefined))?.close()
  }
}
