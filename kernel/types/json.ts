/** Any value that survives `JSON.stringify` and `JSON.parse` unchanged. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject

/** A JSON object; keys that come from outside must be read through `Object.hasOwn` or a Map. */
export interface JsonObject {
  readonly [key: string]: Json | undefined
}
