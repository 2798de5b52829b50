/** The thread's side of a filter that may backtrack: it can be ended in the middle of a match. */

export interface GuardedTask {
  /** Known to be an ECMAScript expression. */
  readonly pattern: string;
  readonly names: readonly string[];
}

/** One byte per name: 1 where it matches. */
// Piscina calls the default export of the file that it is given.
// oxlint-disable-next-line import/no-default-export
export default function matchNames({ pattern, names }: GuardedTask): Uint8Array {
  const regex = new RegExp(pattern);
  return Uint8Array.from(names, (name) => (regex.test(name) ? 1 : 0));
}
