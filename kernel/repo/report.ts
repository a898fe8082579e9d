/** Where a fault goes that was survived: the log and the fault hook, never the caller. */
export type Report = (error: unknown) => void
