import { fileURLToPath } from 'node:url'
import type { ExecutionContext } from 'ava'
import type { Browser, Page } from 'playwright-core'
import { readPanelFiles } from '../../../devtools/server/panel-files.ts'
import type { HostChannel } from '../../../devtools/server/serve-devtools.ts'
import { type DevtoolsServer, serveDevtools } from '../../../devtools/server/serve-devtools.ts'
import { makeStage, type Stage } from '../../helpers/devtools-stage.ts'

/** The served panel, and what a kernel would tell it. */
export interface Scene {
  readonly stage: Stage
  readonly server: DevtoolsServer
  /** Of each panel that was let in. */
  readonly channels: HostChannel[]
  /** Opens a page in a browser profile of this scene. */
  openTab(url: string): Promise<Page>
  /** What the consoles of all tabs said that is no plain message. */
  readonly complaints: string[]
}

/** The built panel, served for devtools that a test tells what a kernel would. */
export const openScene = async (t: ExecutionContext, browser: Browser): Promise<Scene> => {
  const stage = makeStage()
  const channels: HostChannel[] = []
  const server = await serveDevtools({
    files: readPanelFiles(fileURLToPath(new URL('../../../devtools/panel', import.meta.url))),
    attach(channel) {
      channels.push(channel)
      return stage.devtools.attach(channel, { isReadOnly: true, hasWorld: false })
    }
  })
  const profile = await browser.newContext()
  t.teardown(async () => {
    await profile.close()
    await server.close()
  })
  const complaints: string[] = []
  const openTab = async (url: string): Promise<Page> => {
    const tab = await profile.newPage()
    tab.on('console', message => {
      if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
    })
    tab.on('pageerror', error => complaints.push(String(error)))
    await tab.goto(url)
    return tab
  }
  return { stage, server, channels, openTab, complaints }
}

/** Waits until the head says how the panel stands to its kernel. */
export const untilStatus = (tab: Page, word: string): Promise<void> =>
  tab.getByRole('status').getByText(word, { exact: true }).waitFor()
