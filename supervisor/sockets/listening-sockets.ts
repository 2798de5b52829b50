/**
 * Makes and keeps the listening sockets of one listener: with reuse_port one per worker and address,
 * without it one per address that all workers share. A socket outlives the worker that accepts on
 * it, together with its accept queue. This file hands nothing out by itself and accepts nothing.
 */
import { chmodSync, lstatSync, readFileSync, unlinkSync } from 'node:fs';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import {
  IPV6_V6ONLY,
  SO_REUSEADDR,
  SO_REUSEPORT,
  SOCK_STREAM,
  SOL_IPV6,
  SOL_SOCKET,
} from '../../shared/posix/layout.ts';
import {
  bindSocket,
  listenOn,
  localAddress,
  openSocket,
  setSocketOption,
} from '../../shared/posix/sockets.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';
import { BindError, formatAddress } from './bind-error.ts';

/** One address as configured. */
export interface AddressToBind {
  /** Port 0: the kernel chooses. A path that begins with `@` is abstract. */
  readonly address: BoundAddress;
  /** IPv6 only: IPv4 clients are taken too. */
  readonly ipv4Compat: boolean;
  /** Permission bits of a unix socket's file; 0 leaves what umask makes. */
  readonly mode: number;
}

export interface ListenerToBind {
  readonly name: string;
  readonly addresses: readonly AddressToBind[];
  readonly reusePort: boolean;
  /** Undefined: net.core.somaxconn. */
  readonly backlog: number | undefined;
}

export interface ListeningSocket {
  readonly fd: number;
  readonly address: BoundAddress;
  readonly backlog: number;
}

interface BoundGroup {
  readonly address: BoundAddress;
  /** One per worker, or one for all of them. */
  readonly fds: readonly number[];
  /** The file that was made for a unix socket, to remove that one and no other. */
  readonly file: { readonly path: string; readonly inode: bigint } | undefined;
}

export class ListeningSockets {
  readonly listener: string;
  /** After binding: a configured port 0 is the port it got. */
  readonly addresses: readonly BoundAddress[];
  readonly #groups: readonly BoundGroup[];
  readonly #backlog: number;
  #isListening = false;

  private constructor(plan: ListenerToBind, groups: readonly BoundGroup[]) {
    this.listener = plan.name;
    this.#groups = groups;
    this.addresses = groups.map(({ address }) => address);
    this.#backlog = plan.backlog ?? systemBacklog();
  }

  /**
   * Binds every address for `workers` workers; nothing listens yet, so connections are refused.
   * Throws `BindError` with nothing left open.
   */
  static bind(plan: ListenerToBind, workers: number): ListeningSockets {
    const groups: BoundGroup[] = [];
    try {
      for (const address of plan.addresses) {
        const isShared = !plan.reusePort || address.address.kind === 'pipe';
        groups.push(bindGroup(address, isShared ? undefined : workers));
      }
    } catch (error) {
      groups.forEach(closeGroup);
      throw error;
    }
    return new ListeningSockets(plan, groups);
  }

  /** From here on the kernel completes connections; they wait until a worker accepts them. */
  listen(): void {
    if (this.#isListening) return;
    for (const group of this.#groups) {
      for (const fd of group.fds) {
        try {
          listenOn(fd, this.#backlog);
        } catch (cause) {
          throw new BindError('listen on', group.address, cause);
        }
      }
    }
    this.#isListening = true;
  }

  /** What this worker accepts on, in the order of the addresses. The descriptors stay open here. */
  socketsOf(workerIndex: number): readonly ListeningSocket[] {
    return this.#groups.map(({ address, fds }) => ({
      fd: fds[workerIndex % fds.length] as number,
      address,
      backlog: this.#backlog,
    }));
  }

  /** All sockets of an address, for the next epoch; empty when the address is another one. */
  socketsFor(address: BoundAddress): readonly number[] {
    const wanted = formatAddress(address);
    return this.#groups.find((group) => formatAddress(group.address) === wanted)?.fds ?? [];
  }

  /**
   * Closes this process's descriptors. A unix socket's file is removed with them unless a successor
   * has taken it over (`keepFiles`) or made its own in the same place.
   */
  close(options: { readonly keepFiles: boolean } = { keepFiles: false }): void {
    for (const group of this.#groups) {
      closeGroup(options.keepFiles ? { ...group, file: undefined } : group);
    }
  }
}

/** `workers` undefined: one socket that all workers share. */
function bindGroup(plan: AddressToBind, workers: number | undefined): BoundGroup {
  const fds: number[] = [];
  let { address } = plan;
  try {
    for (let count = 0; count < (workers ?? 1); count += 1) {
      const fd = openSocket(address, SOCK_STREAM);
      fds.push(fd);
      if (address.kind === 'ip') setIpOptions(fd, plan, workers !== undefined);
      else removeStaleSocketFile(address.path);
      bindSocket(fd, address);
      // The first socket chooses the port, the others join it.
      if (address.kind === 'ip' && address.port === 0) address = { ...address, port: portOf(fd) };
    }
    return { address, fds, file: socketFile(address, plan.mode) };
  } catch (cause) {
    fds.forEach(closeDescriptor);
    throw new BindError('bind', address, cause);
  }
}

function setIpOptions(fd: number, plan: AddressToBind, reusePort: boolean): void {
  setSocketOption(fd, SOL_SOCKET, SO_REUSEADDR, 1);
  if (reusePort) setSocketOption(fd, SOL_SOCKET, SO_REUSEPORT, 1);
  if (plan.address.kind === 'ip' && plan.address.family === 'v6') {
    setSocketOption(fd, SOL_IPV6, IPV6_V6ONLY, plan.ipv4Compat ? 0 : 1);
  }
}

function portOf(fd: number): number {
  const bound = localAddress(fd);
  return bound?.kind === 'ip' ? bound.port : 0;
}

/** A file that is no socket is left alone; binding then fails with the reason. */
function removeStaleSocketFile(path: string): void {
  if (path.startsWith('@')) return;
  if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) unlinkSync(path);
}

function socketFile(address: BoundAddress, mode: number): BoundGroup['file'] {
  if (address.kind !== 'pipe' || address.path.startsWith('@')) return undefined;
  const { path } = address;
  if (mode !== 0) chmodSync(path, mode);
  return { path, inode: lstatSync(path, { bigint: true }).ino };
}

function closeGroup(group: BoundGroup): void {
  group.fds.forEach(closeDescriptor);
  if (group.file === undefined) return;
  const { path, inode } = group.file;
  const present = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  if (present?.ino === inode) unlinkSync(path);
}

/** What the kernel allows at most, which is also the default. */
function systemBacklog(): number {
  try {
    return Number(readFileSync('/proc/sys/net/core/somaxconn', 'utf8'));
  } catch {
    // /proc may be hidden; the kernel lowers a larger number to its own limit.
    return 4096;
  }
}
