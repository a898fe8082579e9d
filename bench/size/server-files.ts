/** How many transaction files a sync server has in a repo. `syncKey`: hex. */
export const countServerFiles = async (server: string, syncKey: string): Promise<number> => {
  const reply = await fetch(`${server}/api/v2/store/${syncKey}`)
  const { changes } = (await reply.json()) as { changes: Record<string, unknown> }
  return Object.keys(changes).filter(path => path.startsWith('transaction/')).length
}
