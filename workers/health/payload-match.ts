/** Whether bytes hold certain others, one behind the other with anything between them. */
export function hasInOrder(bytes: Buffer, wanted: readonly Buffer[]): boolean {
  let at = 0;
  for (const each of wanted) {
    const found = bytes.indexOf(each, at);
    if (found < 0) return false;
    at = found + each.length;
  }
  return true;
}
