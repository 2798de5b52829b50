/**
 * The sockets of one address, one for each worker or one for all: bound together, or not at all.
 */
import type { AddressToBind } from '../resolved/address-to-bind.ts';
import { readFileSync } from 'node:fs';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import {
  IPPROTO_MPTCP,
  IPV6_V6ONLY,
  SO_REUSEADDR,
  SO_REUSEPORT,
  SOCK_DGRAM,
  SOCK_STREAM,
  SOL_IPV6,
  SOL_SOCKET,
} from '../../shared/posix/layout.ts';
import {
  bindSocket,
  localAddress,
  openSocket,
  setSocketOption,
} from '../../shared/posix/sockets.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';
import { setConfiguredOptions } from '../../shared/posix/configured-options.ts';
import {
  removeSocketFile,
  removeStaleSocketFile,
  socketFile,
  type SocketFile,
} from './socket-file.ts';
import { BindError } from './bind-error.ts';

export interface BoundGroup {
  readonly plan: AddressToBind;
  readonly address: BoundAddress;
  /** One per worker, or one for all of them; more when the epoch before had more workers. */
  fds: number[];
  file: SocketFile | undefined;
}

export function isOfDatagrams({ address }: { readonly address: BoundAddress }): boolean {
  return address.kind === 'ip' && address.isDatagram === true;
}

export function isShared(reusePort: boolean, { address }: AddressToBind): boolean {
  return !reusePort || address.kind === 'pipe';
}

/**
 * One socket per worker beside those that the epoch before had. Where that epoch's sockets do not
 * allow others beside them, workers share.
 */
export function fillUp(group: BoundGroup, workers: number): void {
  const missing = workers - group.fds.length;
  if (missing <= 0 || group.address.kind === 'pipe') return;
  try {
    group.fds.push(...bindGroup({ ...group.plan, address: group.address }, missing).fds);
  } catch (error) {
    if (!(error instanceof BindError)) throw error;
  }
}

/** `workers` undefined: one socket that all workers share. */
export function bindGroup(plan: AddressToBind, workers: number | undefined): BoundGroup {
  const fds: number[] = [];
  let { address } = plan;
  try {
    for (let count = 0; count < (workers ?? 1); count += 1) {
      const type = isOfDatagrams({ address }) ? SOCK_DGRAM : SOCK_STREAM;
      const fd = openSocket(address, type, plan.isMultipath === true ? IPPROTO_MPTCP : 0);
      fds.push(fd);
      setConfiguredOptions(fd, plan.options, 'prebind');
      if (address.kind === 'ip') setIpOptions(fd, plan, workers !== undefined);
      else removeStaleSocketFile(address.path);
      bindSocket(fd, address);
      setConfiguredOptions(fd, plan.options, 'bound');
      // The first socket chooses the port, the others join it.
      if (address.kind === 'ip' && address.port === 0) address = { ...address, port: portOf(fd) };
    }
    return { plan, address, fds, file: socketFile(address, plan.mode) };
  } catch (cause) {
    fds.forEach(closeDescriptor);
    throw new BindError('bind', address, cause);
  }
}

function setIpOptions(fd: number, plan: AddressToBind, reusePort: boolean): void {
  // The option would let any process take the address of datagrams over.
  if (!isOfDatagrams(plan)) setSocketOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (reusePort) setSocketOption(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  if (plan.address.kind === 'ip' && plan.address.family === 'v6') {
    setSocketOption(fd, SOL_IPV6, IPV6_V6ONLY, plan.ipv4Compat ? 0 : 1);
  }
}

function portOf(fd: number): number {
  const bound = localAddress(fd);
  return bound?.kind === 'ip' ? bound.port : 0;
}

export function closeGroup(group: BoundGroup): void {
  group.fds.forEach(closeDescriptor);
  if (group.file !== undefined) removeSocketFile(group.file);
}

/** What the kernel allows at most, which is also the default. */
export function systemBacklog(): number {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
  } catch {
    // /proc may be hidden; the kernel lowers a larger number to its own limit.
    return 4096;
  }
}
