/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/** The page that the panel stands in; undefined where markup is made without one. */
export const page: Window | undefined = typeof window === 'undefined' ? undefined : window

/** Hands a file of lines to the person, as a download. */
export const saveFile = (name: string, lines: readonly string[]): void => {
  if (page === undefined) return
  const file = new Blob(
    lines.map(line => `${line}\n`),
    { type: 'application/x-ndjson' }
  )
  const link = page.document.createElement('a')
  link.href = URL.createObjectURL(file)
  link.download = name
  link.click()
  // The browser has it by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}
