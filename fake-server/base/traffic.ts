/** One request as the log remembers it: never a body, and no sync key or other long text of the path. */
export interface TrafficLine {
  /** Counts the requests of a server, from 1. */
  readonly sequence: number
  readonly method: string
  readonly path: string
  /** 0 if the request ended without an answer. */
  readonly status: number
  /** Milliseconds. */
  readonly duration: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** The newest requests of a fake server, oldest first. */
export interface TrafficLog {
  readonly lines: readonly TrafficLine[]
  add(line: Omit<TrafficLine, 'sequence'>): void
  /** Calls `listener` for each later request until the returned function is called. */
  onLine(listener: (line: TrafficLine) => void): () => void
}

/** Makes a log that forgets the oldest beyond `limit` lines. */
export const makeTrafficLog = (limit = 1000): TrafficLog => {
  let lines: TrafficLine[] = []
  let sequence = 0
  const listeners = new Set<(line: TrafficLine) => void>()
  return {
    get lines() {
      return lines.slice(-limit)
    },
    add(line) {
      sequence += 1
      const { path, method } = line
      const masked = Object.freeze({ ...line, sequence, path: maskPath(path), method: method.slice(0, 20) })
      lines.push(masked)
      // Cut in portions, so that a long run does not copy the log for each request.
      if (lines.length >= 2 * limit) lines = lines.slice(-limit)
      for (const listener of [...listeners]) listener(masked)
    },
    onLine(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    }
  }
}

/** A path that is safe to show. */
const maskPath = (path: string): string =>
  path
    .slice(0, 300)
    .replace(/(\/store\/)[^/]+/, '$1…')
    .replace(/[A-Za-z0-9+_=-]{20,}/g, '…')
