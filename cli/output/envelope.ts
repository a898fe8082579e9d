import type { JsonObject } from '../../kernel/index.ts'
import type { Failure } from '../errors/failure.ts'

/** What every success carries beside its data. */
export interface EnvelopeMeta {
  /** Such as `wallets.list/1`. Additions keep the number. */
  readonly schema: string
  readonly profile: string
  readonly account?: string
  readonly durationMs: number
}

/** The one object on standard output of a command that did what it was asked (ecosystem 1.8). */
export const successEnvelope = (
  data: JsonObject,
  warnings: readonly string[],
  meta: EnvelopeMeta
): JsonObject => ({ ok: true, data, warnings, meta: { ...meta } })

/** The one object on standard output of a command that failed. */
export const failureEnvelope = (
  { name, code, exitCode, message, retryable, details, hint, next }: Failure,
  meta: { readonly command: string; readonly profile: string }
): JsonObject => ({
  ok: false,
  error: {
    name,
    code,
    exitCode,
    message,
    retryable,
    details,
    ...(hint === undefined ? {} : { hint }),
    next: next.map(({ command, why }) => ({ command, why }))
  },
  meta: { schema: 'error/1', ...meta }
})
