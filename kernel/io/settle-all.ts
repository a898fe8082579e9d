/** Waits until all have ended, however they end. @throws the first failure in their order */
export const settleAll = async (tasks: readonly (Promise<unknown> | undefined)[]): Promise<void> => {
  for (const result of await Promise.allSettled(tasks)) {
    if (result.status === 'rejected') throw result.reason
  }
}
