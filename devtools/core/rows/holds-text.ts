/** Tells whether one of some texts holds a part, in any case; an empty part is in all of them (pure). */
export const holdsText = (part: string, texts: readonly (string | undefined)[]): boolean => {
  if (part === '') return true
  const wanted = part.toLowerCase()
  return texts.some(text => text?.toLowerCase().includes(wanted) === true)
}
