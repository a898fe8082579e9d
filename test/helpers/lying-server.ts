import type { Channel, Io, Json } from '../../kernel/plugin-api.ts'

/** What was asked. */
export interface Requested {
  readonly method: string
  readonly params: readonly Json[]
}

/** What came back: a result or a refusal. */
export interface Answer {
  readonly id?: number
  readonly method?: string
  readonly params?: Json
  readonly result?: Json
  readonly error?: Json
}

/** How an Electrum server lies. What is absent is told truly. */
export interface Lies {
  /** False: the honest server behind it never gets the question. What is answered instead, if anything. */
  query?(requested: Requested): { readonly answer?: Omit<Answer, 'id'> } | undefined
  /** Changes an answer, or what is pushed; undefined: nothing comes. */
  answer?(requested: Requested, answer: Answer): Answer | undefined
}

/** An io whose Electrum servers tell `lies`; they can be changed while it runs. */
export const withLies = (io: Io, lies: Lies): Io => {
  const { connect } = io
  if (connect === undefined) throw new TypeError('This io has no connections')
  return {
    ...io,
    async connect(address, handlers) {
      const requested = new Map<number, Requested>()
      const emit = (answer: Answer): void => handlers.onText(`${JSON.stringify(answer)}\n`)
      const channel: Channel = await connect(address, {
        ...handlers,
        onText(text) {
          for (const answer of messagesOf(text) as Answer[]) {
            const question = requested.get(answer.id ?? -1) ?? {
              method: answer.method ?? '',
              params: (answer.params ?? []) as readonly Json[]
            }
            const said = lies.answer === undefined ? answer : lies.answer(question, answer)
            if (said !== undefined) emit(said)
          }
        }
      })
      return {
        close: () => channel.close(),
        send(text) {
          for (const message of messagesOf(text)) {
            const { id, method, params } = message as Requested & { readonly id: number }
            requested.set(id, { method, params })
            const instead = lies.query?.({ method, params })
            if (instead === undefined) channel.send(`${JSON.stringify(message)}\n`)
            else if (instead.answer !== undefined) emit({ id, ...instead.answer })
          }
        }
      }
    }
  }
}

/** All messages of a text, those of batches one by one. */
export const messagesOf = (text: string): object[] =>
  text.split('\n').flatMap(line => (line === '' ? [] : (JSON.parse(line) as object | object[])))

/** The refusal of a node, as ElectrumX words it. */
export const refusal = (reason: string): Pick<Answer, 'error'> => ({
  error: { code: 1, message: `the transaction was rejected by network rules.\n\n${reason}` }
})
