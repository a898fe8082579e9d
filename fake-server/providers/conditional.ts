import { emptyReply, type FakeReply, type FakeRequest } from '../replies.ts'

/**
 * Gives an answer its mark (`etag`), or 304 without a body to who sends the mark of that very answer along.
 *
 * The mark is a hash of the body, FNV-1a; nothing depends on its strength.
 */
export const conditional = (request: FakeRequest, reply: FakeReply): FakeReply => {
  const etag = `"${hashOf(reply.body)}"`
  if (request.headers['if-none-match'] === etag) return emptyReply(304, { etag })
  return { ...reply, headers: { ...reply.headers, etag } }
}

const hashOf = (text: string): string => {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i += 1) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0
  return hash.toString(16).padStart(8, '0')
}
