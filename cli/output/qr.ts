/** A QR code with its quiet zone; two modules a character high, unless in plain ASCII. */
export const qrLines = async (text: string, isAscii: boolean, border = 4): Promise<readonly string[]> => {
  const { renderUnicode, renderUnicodeCompact } = await import('uqr')
  const code = isAscii
    ? renderUnicode(text, { border, whiteChar: '##', blackChar: '  ' })
    : renderUnicodeCompact(text, { border })
  return code.split('\n')
}
