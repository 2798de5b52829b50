/** Lists of tokens in header values. */

/** `token` is in lower case. */
export function hasToken(list: string | undefined, token: string): boolean {
  return list?.split(',').some((part) => part.trim().toLowerCase() === token) ?? false;
}
