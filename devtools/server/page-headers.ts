/**
 * The headers of every answer: what the page may do, and who may read it.
 *
 * No inline script, no `eval`, no other origin, no frame around it, and no text that becomes markup (Trusted Types, for
 * which the panel needs no policy). Styles that a script sets through the CSSOM are allowed by the standard.
 *
 * @param source - where the page may connect to: `ws://` and the host as {@link ownHostOf} gave it, since a WebSocket on
 *   the same port counts as another origin in old browsers; or `'self'`
 */
export const pageHeaders = (source: string): Readonly<Record<string, string>> => ({
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src ${source}`,
    "img-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'"
  ].join('; '),
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store'
})
