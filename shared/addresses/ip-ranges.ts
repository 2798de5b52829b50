/**
 * Ranges of IP addresses, as many as a configuration names, with a value each: a look-up costs one
 * look into a map for each length of prefix. An address of one family is in no range of the other:
 * `::ffff:10.0.0.1` is not within 10.0.0.0/8, as with Envoy.
 */
import { isIPv4, isIPv6 } from './ip-text.ts';
import { ipv6Groups } from './ip-groups.ts';

export interface IpRange {
  readonly address: string;
  readonly prefixLength: number;
}

/** The bits of an address in numbers of 32. */
type Words = readonly number[];

interface LengthGroup<Value> {
  readonly length: number;
  /** By the words of the prefix. */
  readonly values: Map<number | string, Value[]>;
}

export class IpRanges<Value> {
  /** The longest prefixes first. */
  readonly #v4: LengthGroup<Value>[] = [];
  readonly #v6: LengthGroup<Value>[] = [];

  /**
   * A prefix beyond the address's own length is the whole address. What is no address is left out.
   */
  add({ address, prefixLength }: IpRange, value: Value): void {
    const words = wordsOf(address);
    if (words === undefined) return;
    const length = Math.min(prefixLength, 32 * words.length);
    const { values } = groupOf(words.length === 1 ? this.#v4 : this.#v6, length);
    const key = keyOf(words, length);
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }

  /** The values of all ranges with the address, the narrowest first. */
  *find(ip: string): Generator<Value, void, undefined> {
    const words = wordsOf(ip);
    if (words === undefined) return;
    for (const { length, values } of words.length === 1 ? this.#v4 : this.#v6) {
      const found = values.get(keyOf(words, length));
      if (found !== undefined) yield* found;
    }
  }

  /**
   * How long the prefix of the narrowest range with the address is; undefined where none has it.
   */
  narrowest(ip: string): number | undefined {
    const words = wordsOf(ip);
    if (words === undefined) return undefined;
    for (const { length, values } of words.length === 1 ? this.#v4 : this.#v6) {
      if (values.has(keyOf(words, length))) return length;
    }
    return undefined;
  }
}

/**
 * Whether an address is in one of the ranges: an empty text, and what is no address, is in none.
 */
export function compileIpRanges(ranges: readonly IpRange[]): (ip: string) => boolean {
  const known = new IpRanges<true>();
  for (const range of ranges) known.add(range, true);
  return (ip) => known.narrowest(ip) !== undefined;
}

function groupOf<Value>(groups: LengthGroup<Value>[], length: number): LengthGroup<Value> {
  const at = groups.findIndex((group) => group.length <= length);
  const found = groups[at];
  if (found?.length === length) return found;
  const made = { length, values: new Map<number | string, Value[]>() };
  groups.splice(at < 0 ? groups.length : at, 0, made);
  return made;
}

/** One word of an IPv4 address, four of an IPv6 one. */
function wordsOf(ip: string): Words | undefined {
  if (!ip.includes(':')) return isIPv4(ip) ? [ipv4Number(ip)] : undefined;
  if (!isIPv6(ip)) return undefined;
  const groups = ipv6Groups(ip);
  return [0, 2, 4, 6].map((at) => (((groups[at] ?? 0) << 16) | (groups[at + 1] ?? 0)) >>> 0);
}

function ipv4Number(ip: string): number {
  let [number, octet] = [0, 0];
  for (let at = 0; at < ip.length; at++) {
    const code = ip.charCodeAt(at);
    if (code === DOT) {
      number = (number << 8) | octet;
      octet = 0;
    } else octet = 10 * octet + code - ZERO;
  }
  return ((number << 8) | octet) >>> 0;
}

const DOT = 0x2e;
const ZERO = 0x30;

/** A number where one word says it. */
function keyOf(words: Words, length: number): number | string {
  const [first = 0] = words;
  if (words.length === 1) return masked(first, length);
  return words.map((word, at) => masked(word, length - 32 * at)).join();
}

/** The first bits of a word; none are left below 1. */
function masked(word: number, bits: number): number {
  if (bits >= 32) return word;
  return bits <= 0 ? 0 : (word & (-1 << (32 - bits))) >>> 0;
}
