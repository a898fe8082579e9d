import type { ExecutionContext } from 'ava'
import type { Browser, Page } from 'playwright-core'
import type { ProgramStage } from '../../helpers/programs.ts'
import { STEP_LIMIT } from './chromium.ts'
import { watchConsole } from './panel-page.ts'

/** Opens the panel that a command serves out of an agent, with the flags of that command, in a page. */
export const openAgentPanel = async (
  t: ExecutionContext,
  browser: Browser,
  { run }: Pick<ProgramStage, 'run'>,
  ...flags: readonly string[]
): Promise<Page> => {
  const stop = new AbortController()
  const url = await new Promise<string>(resolve => {
    let text = ''
    const serving = run(['devtools', '--json', ...flags], {
      signal: stop.signal,
      onOutput(part) {
        text += part
        const [, url] = /"url":\s*"([^"]+)"/.exec(text) ?? []
        if (url !== undefined) resolve(url)
      }
    })
    t.teardown(async () => {
      stop.abort()
      await serving.catch(() => {})
    })
  })
  const profile = await browser.newContext({ viewport: { width: 1280, height: 800 } })
  t.teardown(() => profile.close())
  const page = await profile.newPage()
  page.setDefaultTimeout(STEP_LIMIT)
  watchConsole(t, page)
  await page.goto(url)
  await page.getByText('live', { exact: true }).waitFor()
  return page
}
