/**
 * Large host sets as they travel: runs of hosts that a worker has already, and hosts that differ by
 * their address alone, as one of them and a line of addresses. A set of ten thousand hosts of which
 * ten are others is a few dozen entries.
 */
import type { HostAddress, HostResource } from './cluster.ts';
import type { HostEntry } from '../resource-update.ts';

/** Hosts of the set before, by their positions there. */
export interface KeptHosts {
  readonly from: number;
  readonly count: number;
}

/** Hosts that are as `like` but for these addresses, `address:port` each and a space between. */
export interface AlikeHosts {
  readonly like: HostResource;
  readonly addresses: string;
  /** How many addresses there are. */
  readonly count: number;
}

/** Entries are not longer, so that they can be sent, and taken apart, in parts. */
const HOSTS_PER_ENTRY = 256;

/** Hosts that are packed in one step. */
const HOSTS_PER_STEP = 512;

/** `positionOf` says where the worker has a host in exactly this state, -1 for nowhere. */
export function* packHostsInSteps(
  hosts: readonly HostResource[],
  positionOf: (host: HostResource) => number,
): Generator<undefined, readonly HostEntry[], undefined> {
  const entries: HostEntry[] = [];
  let alike: HostResource[] = [];
  /** Others may be said to be like the first of `alike`. */
  let hasRoom = false;
  let [from, count] = [0, 0];
  const end = (): void => {
    if (count > 0) entries.push({ from, count });
    count = 0;
    const [like, ...more] = alike;
    if (like !== undefined) entries.push(more.length === 0 ? like : alikeOf(like, alike));
    alike = [];
  };
  for (const [at, host] of hosts.entries()) {
    if ((at + 1) % HOSTS_PER_STEP === 0) yield;
    const position = positionOf(host);
    if (position >= 0) {
      if (alike.length > 0 || position !== from + count) end();
      if (count === 0) from = position;
      count += 1;
      continue;
    }
    const [first] = alike;
    const isNext =
      first !== undefined &&
      hasRoom &&
      alike.length < HOSTS_PER_ENTRY &&
      isAlike(first, host) &&
      hasSimpleAddress(host);
    if (!isNext) {
      end();
      hasRoom = hasSimpleAddress(host);
    }
    alike.push(host);
  }
  end();
  return entries;
}

/** All of them, where the worker has none. */
export function packAllHosts(hosts: readonly HostResource[]): readonly HostEntry[] {
  const steps = packHostsInSteps(hosts, () => -1);
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

export function isKept(entry: HostEntry): entry is KeptHosts {
  return 'from' in entry;
}

export function isAlikes(entry: HostEntry): entry is AlikeHosts {
  return 'like' in entry;
}

export function countHosts(entries: readonly HostEntry[]): number {
  return entries.reduce((sum, entry) => sum + ('count' in entry ? entry.count : 1), 0);
}

/** Undoes `packHostsInSteps` for entries that are hosts. */
export function unpackHosts(entry: HostResource | AlikeHosts): readonly HostResource[] {
  if (!isAlikes(entry)) return [entry];
  const { like, addresses } = entry;
  return addresses
    .split(' ')
    .map((id) => (id === like.id ? like : { ...like, id, address: addressOf(id) }));
}

function alikeOf(like: HostResource, hosts: readonly HostResource[]): AlikeHosts {
  let addresses = like.id;
  for (let at = 1; at < hosts.length; at++) addresses += ` ${hosts[at]?.id ?? ''}`;
  return { like, addresses, count: hosts.length };
}

/** The address of a host whose id is its address. */
function addressOf(id: string): HostAddress {
  const colon = id.lastIndexOf(':');
  const isV6 = id.charCodeAt(0) === OPENING_BRACKET;
  const address = isV6 ? id.slice(1, colon - 1) : id.slice(0, colon);
  return { kind: 'ip', address, port: Number(id.slice(colon + 1)) };
}

const OPENING_BRACKET = '['.charCodeAt(0);

function isAlike(one: HostResource, other: HostResource): boolean {
  return (
    one.weight === other.weight &&
    one.health === other.health &&
    one.healthBits === other.healthBits &&
    one.hostname === other.hostname &&
    one.priority === other.priority &&
    hasSamePlace(one, other) &&
    hasSameState(one, other)
  );
}

function hasSamePlace(one: HostResource, other: HostResource): boolean {
  return (
    one.region === other.region &&
    one.zone === other.zone &&
    one.subZone === other.subZone &&
    one.localityWeight === other.localityWeight &&
    one.canary === other.canary &&
    one.metadata === other.metadata
  );
}

function hasSameState(one: HostResource, other: HostResource): boolean {
  return (
    one.wasChecked === other.wasChecked &&
    one.check === other.check &&
    one.readySinceMs === other.readySinceMs &&
    one.outlierSlot === other.outlierSlot &&
    one.breakerSlot === other.breakerSlot &&
    one.configuredHealth === other.configuredHealth &&
    one.moreAddresses === other.moreAddresses
  );
}

/** Its id says all of its address. */
function hasSimpleAddress({ id, address }: HostResource): boolean {
  if (address.kind !== 'ip') return false;
  const { address: ip, port } = address;
  const from = id.charCodeAt(0) === OPENING_BRACKET ? 1 : 0;
  const end = from + ip.length + from;
  return (
    id.startsWith(ip, from) &&
    id[end] === ':' &&
    id.length > end + 1 &&
    (from === 0 || id[end - 1] === ']') &&
    (from === 1) === ip.includes(':') &&
    Number(id.slice(end + 1)) === port
  );
}
