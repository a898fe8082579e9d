/** A server's own refusal of one request; the connection goes on. */
export class ElectrumRefusal extends Error {
  readonly code: number | undefined

  constructor(code: number | undefined, message: string) {
    super(message)
    this.name = 'ElectrumRefusal'
    this.code = code
  }
}

/** A server that broke the protocol or lied; the connection is given up and another server asked. */
export class ElectrumFault extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ElectrumFault'
  }
}
