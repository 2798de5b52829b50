/** `--name=value` in its two parts; any other word as it is. */
export function splitOption(word: string): readonly [name: string, value?: string] {
  const at = word.startsWith('--') ? word.indexOf('=') : -1;
  return at < 0 ? [word] : [word.slice(0, at), word.slice(at + 1)];
}
