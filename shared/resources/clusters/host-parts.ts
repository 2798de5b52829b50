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

type PutHosts = Extract<ResourceUpdate, { readonly op: 'put_hosts' }>;

/** A line of addresses is read as one, about as fast as so many hosts. */
const LINE_WEIGHT = 16;

function entryWeight(entry: HostEntry): number {
  return isAlikes(entry) ? LINE_WEIGHT : 1;
}

function isLarge(update: ResourceUpdate): update is PutHosts {
  return update.op === 'put_hosts' && weightOf(update.hosts.hosts) > HOSTS_PER_PART;
}

function split(update: PutHosts): readonly PutHosts[] {
  const { hosts: set } = update;
  const parts: PutHosts[] = [];
  let hosts: HostEntry[] = [];
  let weight = 0;
  for (const [at, host] of set.hosts.entries()) {
    hosts.push(host);
    weight += entryWeight(host);
    const isLast = at === set.hosts.length - 1;
    if (weight < HOSTS_PER_PART && !isLast) continue;
    parts.push({ ...update, hosts: { ...set, hosts }, ...(isLast ? {} : { more: true }) });
    hosts = [];
    weight = 0;
  }
  return parts;
}
