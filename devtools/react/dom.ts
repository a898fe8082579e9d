/// <reference lib="dom" />
/// <reference lib="dom.iterable" />

/** The page that the panel stands in; undefined where markup is made without one. */
export const page: Window | undefined = typeof window === 'undefined' ? undefined : window
