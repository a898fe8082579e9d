/** The text of a UTF-8 reply as the fetch standard reads it: no byte order mark, bad bytes replaced. */
export const textOfReply = (chunks: readonly Buffer[]): string => {
  const text = Buffer.concat(chunks).toString('utf8')
  return text.startsWith('\ufeff') ? text.slice(1) : text
}
