/**
 * In which order the pseudo headers of a request stand, as one number: three bits for each, the
 * first one lowest. Envoy writes them towards HTTP/2 hosts in the order in which they were put into
 * the request, which for HTTP/2 clients is the order of their own block.
 */

const PSEUDO_HEADERS = [':authority', ':path', ':method', ':scheme'] as const;
export type OrderedPseudoHeader = (typeof PSEUDO_HEADERS)[number];

/** Nothing is noted: the order of `PSEUDO_HEADERS`, which is that of requests of HTTP/1. */
export const DEFAULT_ORDER = 0;
const BITS = 3;

export function pseudoOrder(...names: readonly OrderedPseudoHeader[]): number {
  return names.reduce(withNext, DEFAULT_ORDER);
}

/** The same order with one more at its end; any other name changes nothing. */
export function withNext(order: number, name: string): number {
  const digit = DIGITS.get(name);
  if (digit === undefined) return order;
  let shift = 0;
  for (let rest = order; rest > 0; rest >>= BITS) shift += BITS;
  return order | (digit << shift);
}

/** Names in their order; those that it does not have follow. Few orders are ever seen. */
export function namesInOrder(order: number): readonly OrderedPseudoHeader[] {
  let names = KNOWN.get(order);
  if (names === undefined) {
    names = read(order);
    if (KNOWN.size < MAX_KNOWN) KNOWN.set(order, names);
  }
  return names;
}

function read(order: number): readonly OrderedPseudoHeader[] {
  const names = new Set<OrderedPseudoHeader>();
  for (let rest = order; rest > 0; rest >>= BITS) {
    const name = PSEUDO_HEADERS[(rest & ((1 << BITS) - 1)) - 1];
    if (name !== undefined) names.add(name);
  }
  for (const name of PSEUDO_HEADERS) names.add(name);
  return Array.from(names);
}

const DIGITS: ReadonlyMap<string, number> = new Map(
  PSEUDO_HEADERS.map((name, position) => [name, position + 1]),
);
/** All orders of four names and their beginnings are fewer. */
const MAX_KNOWN = 128;
const KNOWN = new Map<number, readonly OrderedPseudoHeader[]>();
