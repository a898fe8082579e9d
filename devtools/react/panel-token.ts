/// <reference lib="dom" />

/** The part of a page that is used here: its address, its history and the storage of its tab. */
export interface TokenPage {
  readonly location: Pick<Location, 'hash' | 'pathname'>
  readonly history: Pick<History, 'replaceState'>
  readonly sessionStorage: Pick<Storage, 'getItem' | 'setItem'>
}

const KEY = 'holdfast-devtools-token'

/**
 * Takes the token of `holdfast devtools` out of the page's address, so that it is in no link or screenshot, and in no entry that
 * the tab goes back to (ecosystem 2.4). The history of the browser keeps the address as it was opened. The tab keeps it, so that a reload needs no new address; it is gone with the tab.
 * A place of the panel may follow the token, as in `#token=…/plugins/corner`.
 *
 * @returns undefined if neither the address nor the tab has one
 */
export const takeToken = (page: TokenPage): string | undefined => {
  const { location, history } = page
  const [, token, place = ''] = /^#token=([\w-]{16,100})(\/.*)?$/.exec(location.hash) ?? []
  if (token === undefined) return ifAllowed(() => page.sessionStorage.getItem(KEY)) ?? undefined
  history.replaceState(null, '', `${location.pathname}${place === '' ? '' : `#${place}`}`)
  ifAllowed(() => page.sessionStorage.setItem(KEY, token))
  return token
}

/** A browser may forbid its storage altogether: the panel then works until it is reloaded. */
const ifAllowed = <T>(use: () => T): T | undefined => {
  try {
    return use()
  } catch {
    return undefined
  }
}
