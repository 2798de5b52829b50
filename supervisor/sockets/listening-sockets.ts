/**
 * Makes and keeps the listening sockets of one listener: with reuse_port one per worker and
 * address, without it one per address that all workers share. A socket outlives the worker that
 * accepts on it, together with its accept queue. This file hands nothing out by itself and accepts
 * nothing.
 */
import type { AddressToBind } from '../resolved/address-to-bind.ts';
import { isDeepStrictEqual } from 'node:util';
import { bindingName } from '../../shared/addresses/print-address.ts';
import { closeDescriptor } from '../../shared/posix/descriptors.ts';
import { listenOn } from '../../shared/posix/sockets.ts';
import { refuseConnections } from '../../shared/posix/refuse-connections.ts';
import type { BoundAddress } from '../../shared/resources/listener.ts';
import { setConfiguredOptions } from '../../shared/posix/configured-options.ts';
import { socketFile } from './socket-file.ts';
import { BindError } from './bind-error.ts';
import {
  type BoundGroup,
  isOfDatagrams,
  isShared,
  fillUp,
  bindGroup,
  closeGroup,
  systemBacklog,
} from './bound-group.ts';

export interface ListenerToBind {
  readonly name: string;
  readonly addresses: readonly AddressToBind[];
  readonly reusePort: boolean;
  /** Undefined: net.core.somaxconn. */
  readonly backlog: number | undefined;
  /** In the order of the addresses: sockets of the epoch before, which become this object's. */
  readonly taken?: readonly (readonly number[])[];
}

export interface ListeningSocket {
  readonly fd: number;
  readonly address: BoundAddress;
  readonly backlog: number;
}

export class ListeningSockets {
  readonly listener: string;
  /** After binding: a configured port 0 is the port it got. */
  readonly addresses: readonly BoundAddress[];
  readonly #groups: readonly BoundGroup[];
  readonly #backlog: number;
  readonly #reusePort: boolean;
  readonly #workers: number;
  #isListening = false;

  private constructor(plan: ListenerToBind, groups: readonly BoundGroup[], workers: number) {
    this.listener = plan.name;
    this.#workers = workers;
    this.#reusePort = plan.reusePort;
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
      for (const [position, address] of plan.addresses.entries()) {
        const taken = plan.taken?.[position] ?? [];
        groups.push(
          taken.length > 0
            ? { plan: address, address: address.address, fds: [...taken], file: undefined }
            : bindGroup(address, isShared(plan.reusePort, address) ? undefined : workers),
        );
      }
      for (const group of groups) if (plan.reusePort) fillUp(group, workers);
    } catch (error) {
      groups.forEach(closeGroup);
      plan.taken?.slice(groups.length).flat().forEach(closeDescriptor);
      throw error;
    }
    return new ListeningSockets(plan, groups, workers);
  }

  /** Whether this listener may take the place of the one that they are of. */
  mayServe({ reusePort }: Pick<ListenerToBind, 'reusePort'>): boolean {
    return reusePort === this.#reusePort;
  }

  /** Whether a listener that is configured so can go on with these sockets. */
  isFor(plan: Pick<ListenerToBind, 'addresses' | 'reusePort' | 'backlog'>): boolean {
    const own = this.#groups.map((group) => group.plan);
    return (
      plan.reusePort === this.#reusePort &&
      (plan.backlog ?? systemBacklog()) === this.#backlog &&
      isDeepStrictEqual(plan.addresses, own)
    );
  }

  /** From here on the kernel completes connections; they wait until a worker accepts them. */
  listen(): void {
    if (this.#isListening) return;
    for (const group of this.#groups) {
      for (const fd of isOfDatagrams(group) ? [] : group.fds) {
        try {
          listenOn(fd, this.#backlog);
          setConfiguredOptions(fd, group.plan.options, 'listening');
        } catch (cause) {
          throw new BindError('listen on', group.address, cause);
        }
      }
    }
    this.#isListening = true;
  }

  /**
   * What this worker accepts on, in the order of the addresses. Of sockets beyond the number of
   * workers each is some worker's, so that no accept queue is left alone. The descriptors stay open
   * here.
   */
  socketsOf(workerIndex: number): readonly ListeningSocket[] {
    const workers = this.#workers;
    return this.#groups.flatMap((group) => {
      const { address, fds } = group;
      // Datagrams of one client must not come to several workers.
      const readers = isOfDatagrams(group) ? workers : Math.min(workers, fds.length);
      return fds
        .filter((_, position) => position % workers === workerIndex % readers)
        .map((fd) => ({ fd, address, backlog: this.#backlog }));
    });
  }

  /**
   * All sockets of an address such as `tcp://127.0.0.1:80`, for the next epoch; empty for another one.
   */
  socketsFor(address: string): readonly number[] {
    return this.#groups.find((group) => bindingName(group.address) === address)?.fds ?? [];
  }

  areAllOf(passed: ReadonlySet<number>): boolean {
    return this.#groups.every(({ fds }) => fds.every((fd) => passed.has(fd)));
  }

  get isOpen(): boolean {
    return this.#groups.some(({ fds }) => fds.length > 0);
  }

  /** Those that were not made by the service manager. */
  ownDescriptors(): readonly number[] {
    return this.#groups.flatMap(({ plan, fds }) => (plan.isExternal === true ? [] : fds));
  }

  /** Files of unix sockets that came from the epoch before are ours to remove from now on. */
  claimFiles(): void {
    for (const group of this.#groups) {
      if (group.plan.isExternal !== true) group.file ??= socketFile(group.address, 0);
    }
  }

  /**
   * Before they are closed: what waits in them can be accepted until then, and nothing is added.
   */
  refuseNew(passed: ReadonlySet<number> = new Set()): void {
    if (!this.#isListening) return;
    for (const group of this.#groups) {
      const { fds, plan } = group;
      if (isOfDatagrams(group)) continue;
      // The service manager keeps its sockets, for the next server.
      if (plan.isExternal === true) continue;
      for (const fd of fds) if (!passed.has(fd)) refuseConnections(fd);
    }
  }

  /** Closes what the next epoch did not take: nobody will accept there. */
  keepOnly(passed: ReadonlySet<number>): void {
    for (const group of this.#groups) {
      for (const fd of group.fds) if (!passed.has(fd)) closeDescriptor(fd);
      group.fds = group.fds.filter((fd) => passed.has(fd));
    }
  }

  /** Makes again what `keepOnly` closed. Throws `BindError` where the address is taken by now. */
  restore(): void {
    const workers = this.#workers;
    for (const group of this.#groups) {
      if (group.fds.length === 0) {
        const isOne = isShared(this.#reusePort, group.plan);
        const bound = bindGroup(
          { ...group.plan, address: group.address },
          isOne ? undefined : workers,
        );
        group.fds = bound.fds;
        group.file = bound.file;
      } else if (this.#reusePort) fillUp(group, workers);
    }
    this.#isListening = false;
    this.listen();
  }

  /**
   * Closes this process's descriptors. A unix socket's file is removed with them unless a successor
   * has the socket (`passed`) or made its own in the same place.
   */
  close(passed: ReadonlySet<number> = new Set()): void {
    for (const group of this.#groups) {
      closeGroup(group.fds.some((fd) => passed.has(fd)) ? { ...group, file: undefined } : group);
      group.fds = [];
    }
  }
}
