/**
 * Large host sets on their way to workers: in parts, each of which a worker reads in a fraction of
 * a millisecond, joined again before they are applied.
 */
import { isAlikes } from './host-entries.ts';
import type { HostEntry, ResourceUpdate } from '../resource-update.ts';

/** Reading a host takes about a microsecond. */
export const HOSTS_PER_PART = 256;

/** Cuts large host sets; all but the last part of a set say that more follows. */
export function splitHosts(updates: readonly ResourceUpdate[]): readonly ResourceUpdate[] {
  return updates.flatMap((update): readonly ResourceUpdate[] =>
    isLarge(update) ? split(update) : [update],
  );
}

/** Undoes `splitHosts`. */
export function joinHosts(updates: readonly ResourceUpdate[]): readonly ResourceUpdate[] {
  const joined: ResourceUpdate[] = [];
  let earlier: HostEntry[] = [];
  for (const update of updates) {
    if (update.op !== 'put_hosts' || (update.more !== true && earlier.length === 0)) {
      joined.push(update);
      continue;
    }
    for (const host of update.hosts.hosts) earlier.push(host);
    if (update.more === true) continue;
    const { more: _, ...last } = update;
    joined.push({ ...last, hosts: { ...update.hosts, hosts: earlier } });
    earlier = [];
  }
  return joined;
}

/** How much of a part's room the hosts of an update take. */
export function weightOf(hosts: readonly HostEntry[]): number {
  return hosts.reduce((sum, host) => sum + entryWeight(host), 0);
}

export type PutHosts = Extract<ResourceUpdate, { readonly op: 'put_hosts' }>;

/** A line of addresses is read as one, about as fast as so many hosts. */
const LINE_WEIGHT = 16;

function entryWeight(entry: HostEntry): number {
  return isAlikes(entry) ? LINE_WEIGHT : 1;
}

function isLarge(update: ResourceUpdate): update is PutHosts {
  if (update.op !== 'put_hosts' || update.more === true) return false;
  return weightOf(update.hosts.hosts) >= HOSTS_PER_PART + LINE_WEIGHT;
}

function split(update: PutHosts): readonly PutHosts[] {
  const parts = [...partsOf(update.hosts.hosts)];
  return partsAsUpdates(update, parts);
}

/** As `splitHosts`, of one set whose entries were cut before. */
export function partsAsUpdates(
  update: PutHosts,
  parts: readonly (readonly HostEntry[])[],
): readonly PutHosts[] {
  return parts.map((hosts, at) => {
    const part = { ...update, hosts: { ...update.hosts, hosts } };
    return at === parts.length - 1 ? part : { ...part, more: true };
  });
}

/** At least one. */
export function* partsOf(entries: readonly HostEntry[]): Generator<readonly HostEntry[]> {
  let part: HostEntry[] = [];
  let weight = 0;
  for (let at = 0; at < entries.length; at++) {
    const entry = entries[at] as HostEntry;
    part.push(entry);
    weight += entryWeight(entry);
    if (weight < HOSTS_PER_PART || at === entries.length - 1) continue;
    yield part;
    part = [];
    weight = 0;
  }
  yield part;
}
