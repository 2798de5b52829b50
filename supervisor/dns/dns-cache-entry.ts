/** One name in the cache of a dynamic forward proxy, and who is told of its addresses. */
import { compileIpRanges } from '../../shared/addresses/ip-ranges.ts';
import type { Timer } from '../../shared/process/clock.ts';
import type { HostAnswer } from '../../shared/resources/clusters/cluster.ts';
import type { AddressFilterSettings } from '../resolved/resolved-bootstrap.ts';

export interface CachedAddress {
  readonly address: string;
  /** Those that the name has besides. */
  readonly more: readonly string[];
  readonly port: number;
}

/** A cluster whose hosts are the names of the cache. */
export interface DnsCacheReader {
  /** The name is new, or has another address. */
  found(host: string, address: CachedAddress): void;
  removed(host: string): void;
}

export type Answer = Pick<HostAnswer, 'outcome' | 'details'>;
export type Done = (answer: Answer) => void;

export interface Entry {
  readonly host: string;
  readonly name: string;
  readonly port: number;
  /** As they were answered; none before there is one. */
  addresses: readonly string[];
  /** The failure of the last lookup, when there is no address. */
  failure: string | undefined;
  isResolved: boolean;
  lastUsedMs: number;
  failuresInARow: number;
  timer: Timer | undefined;
  /** The lookup under way; another number makes its answer late. */
  lookup: number;
  readonly waiting: Done[];
}

const FOUND: Answer = { outcome: 'found', details: '' };

export function addressCheck(
  filter: AddressFilterSettings | undefined,
): (address: string) => boolean {
  if (filter === undefined) return () => false;
  const contains = compileIpRanges(filter.ranges);
  return (address) => contains(address) !== filter.isInverted;
}

export function answerOf({ addresses, failure = '' }: Entry): Answer {
  return addresses.length === 0 ? { outcome: 'failed', details: failure } : FOUND;
}

export function tell(reader: DnsCacheReader, { host, addresses, port }: Entry): void {
  const [address, ...more] = addresses;
  if (address !== undefined) reader.found(host, { address, more, port });
}
