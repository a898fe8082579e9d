// A program that asks for a payment: it starts `holdfast mcp` as any MCP client does, proposes, and waits for the answer.
//
//   node dist/examples/propose-a-payment.js <token file> <wallet id> <address> <amount> [note]
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'

const [tokenFile = '', walletId = '', payee = '', amount = '', note = 'from an example'] =
  process.argv.slice(2)
const holdfast = new URL('../bin/holdfast.js', import.meta.url).pathname

const client = new Client({ name: 'propose-a-payment', version: '1.0.0' })
await client.connect(
  new StdioClientTransport({
    command: process.execPath,
    args: [holdfast, 'mcp', '--client-file', tokenFile],
    env: { PATH: process.env.PATH ?? '', HOLDFAST_HOME: process.env.HOLDFAST_HOME ?? '' },
    stderr: 'inherit'
  })
)

/** Calls a tool, and gives its data. @throws Error with the reason of a refusal */
const call = async (name: string, input: Record<string, unknown>): Promise<Record<string, unknown>> => {
  const { isError, content, structuredContent } = await client.callTool({ name, arguments: input })
  const [first] = content
  if (isError === true) throw new Error(first?.type === 'text' ? first.text : 'refused')
  return structuredContent as Record<string, unknown>
}

let proposal = await call('propose_payment', { walletId, payee, amount, note })
if (proposal.state === 'waiting') console.log(`waits for: ${proposal.approve}`)
while (proposal.state === 'waiting' || proposal.state === 'sending') {
  proposal = await call('proposal_status', { id: proposal.id, waitSeconds: 30 })
}
const { rule, allowedAt } = (proposal.policy ?? {}) as Record<string, unknown>
const facts = [proposal.state, proposal.reason, rule, allowedAt, proposal.txid]
console.log(facts.filter(fact => fact !== undefined).join(' '))
await client.close()
process.exitCode = proposal.state === 'sent' ? 0 : 1
