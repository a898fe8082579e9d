import {
  type Account,
  type ApprovalRequest,
  type PaymentApproval,
  type Transaction,
  WalletError
} from '../../kernel/index.ts'

/** The approvals of a second device that the payments of a draft need; those of a swap may be several. */
export class DraftApprovals {
  readonly #account: Account
  readonly #drafts: readonly Transaction[]
  readonly #given = new Map<number, PaymentApproval>()
  #open: Promise<OpenRequest> | undefined

  /** @param drafts - exactly what is signed, in this order */
  constructor(account: Account, drafts: readonly Transaction[]) {
    this.#account = account
    this.#drafts = drafts
  }

  /**
   * Asks the other devices about the first payment that still needs that. While one is asked about, gives that request.
   *
   * @throws OPTION_INVALID if none needs it; what `requestApproval` throws
   */
  async request(timeoutSeconds: number): Promise<ApprovalRequest> {
    const open = this.#open ?? this.#begin(timeoutSeconds)
    this.#open = open
    try {
      return (await open).request
    } catch (error) {
      this.#end(open)
      throw error
    }
  }

  /**
   * Waits for the answer to the present request.
   *
   * @returns true if another payment of the draft needs an approval
   * @throws SIGN_REFUSED after a no or without an answer, SIGN_STOPPED; OPTION_INVALID without a request
   */
  async wait(): Promise<boolean> {
    const open = this.#open
    if (open === undefined)
      throw new WalletError('OPTION_INVALID', { option: 'draftId', rule: 'waits for no other device' })
    try {
      const { at, request } = await open
      this.#given.set(at, await request.answer)
    } finally {
      this.#end(open)
    }
    return (await this.#next()) !== undefined
  }

  /** Withdraws the present request. */
  cancel(): void {
    const open = this.#open
    this.#open = undefined
    void open?.then(
      ({ request }) => request.cancel(),
      () => {}
    )
  }

  /** The approvals of all payments, in their order; `fetch` is called for what is missing. @throws what it throws */
  async complete(
    fetch: (draft: Transaction) => Promise<PaymentApproval | undefined> | undefined
  ): Promise<readonly (PaymentApproval | undefined)[]> {
    const approvals: (PaymentApproval | undefined)[] = []
    for (const [at, draft] of this.#drafts.entries())
      approvals.push(this.#given.get(at) ?? (await fetch(draft)))
    return approvals
  }

  async #begin(timeoutSeconds: number): Promise<OpenRequest> {
    const at = await this.#next()
    const draft = this.#drafts[at ?? 0]
    if (at === undefined || draft === undefined)
      throw new WalletError('OPTION_INVALID', { option: 'draftId', rule: 'waits for no other device' })
    const request = await this.#account.policies.requestApproval(draft, { timeoutSeconds })
    return { at, request }
  }

  /** The index of the first payment that waits for another device. */
  async #next(): Promise<number | undefined> {
    for (const [at, draft] of this.#drafts.entries()) {
      if (this.#given.has(at)) continue
      const { approvers } = await this.#account.policies.explain(draft)
      if (approvers !== undefined) return at
    }
    return undefined
  }

  #end(open: Promise<OpenRequest>): void {
    if (this.#open === open) this.#open = undefined
  }
}

interface OpenRequest {
  /** The place of the payment. */
  readonly at: number
  readonly request: ApprovalRequest
}
