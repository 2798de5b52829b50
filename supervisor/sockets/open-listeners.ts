/**
 * The listeners of this server that have sockets: binds them or takes them from the epoch before,
 * knows which of them still accept, and closes them. It tells no worker anything.
 */
import type { ListenerResource } from '../../shared/resources/listener.ts';
import { HotRestartRefused } from '../hot-restart/refusal.ts';
import type { ResolvedListener } from '../resolved/resolved-bootstrap.ts';
import type { Activation } from './activation.ts';
import { BindError } from './bind-error.ts';
import type { ListeningSockets } from './listening-sockets.ts';
import {
  addressConflict,
  bindListener,
  boundResource,
  type ListenerState,
  type OpenListener,
  type PreparedListener,
  type Unprepared,
} from './open-listener.ts';
import { SocketSupply, type TakeSockets } from './socket-supply.ts';

export class OpenListeners {
  /** In the order of the configuration. */
  readonly #listeners = new Map<string, OpenListener>();
  readonly #supply: SocketSupply;
  #isPaused = false;
  /** While the server is overloaded, connections wait in the kernel. */
  #isHeld = false;
  #claimsFiles = false;
  #changed: ((name: string, fds: readonly number[]) => void) | undefined;

  /**
   * The service manager has copies of all sockets, in which connections wait for the next server.
   */
  readonly #areStored: boolean;

  /** Sockets of the service manager are taken before others are made. */
  constructor(activation: Activation, areStored: boolean) {
    this.#supply = new SocketSupply(activation);
    this.#areStored = areStored;
  }

  /**
   * Binds all addresses of all listeners, or throws `BindError` with none of them open. The caller
   * lets them listen when workers are ready.
   */
  bindAll(listeners: readonly ResolvedListener[], workers: number): void {
    try {
      for (const listener of this.#supply.withAddresses(listeners)) {
        this.#bind(listener, workers, this.#supply.given(listener));
      }
    } catch (error) {
      this.closeAll();
      throw error;
    }
  }

  /**
   * The same, with the sockets that another epoch has; those of listeners that come later are asked
   * for when they come. Rejects as `take` does, too.
   */
  async takeAll(
    listeners: readonly ResolvedListener[],
    workers: number,
    take: TakeSockets,
    isParentThere: () => boolean,
  ): Promise<void> {
    this.#supply.follow(take, isParentThere);
    try {
      for (const listener of this.#supply.withAddresses(listeners)) {
        this.#bind(listener, workers, await this.#supply.taken(listener));
      }
    } catch (error) {
      this.closeAll();
      throw error;
    }
  }

  /**
   * One subscriber, told of each listener whose sockets are others while the server goes on: none,
   * when it was closed.
   */
  onChanged(subscriber: (name: string, fds: readonly number[]) => void): void {
    this.#changed = subscriber;
  }

  /** All listeners of the start are there: what the service manager gave beyond them is closed. */
  closeUnwanted(): void {
    this.#supply.closeRest();
  }

  /** Those that accept, as workers get them: with the addresses that were bound. */
  resources(): readonly ListenerResource[] {
    return this.#accepting().map(({ resource }) => resource);
  }

  /** Those that were closed, too. */
  configured(): readonly ListenerResource[] {
    return [...this.#listeners.values()].map(({ resource }) => resource);
  }

  /** What workers accept on: nothing while the next epoch does or the server is overloaded. */
  sockets(): readonly ListeningSockets[] {
    if (this.#isPaused) return [];
    return this.#accepting()
      .filter(({ isKnown, resource }) => isKnown && !(this.#isHeld && !resource.bypassesOverload))
      .map(({ sockets }) => sockets);
  }

  /**
   * Gets the sockets that a listener needs beyond those that it has: from the epoch before, from
   * the service manager, or new ones. Resolves with why it cannot; nothing is in force before
   * `install`.
   */
  async prepare(
    configured: ResolvedListener,
    workers: number,
  ): Promise<PreparedListener | Unprepared> {
    const [listener = configured] = this.#supply.withAddresses([configured]);
    const { name } = listener.resource;
    const present = this.#listeners.get(name);
    if (present !== undefined && !present.isStopped && present.sockets.isFor(listener)) {
      const { sockets } = present;
      const resource = boundResource(listener, sockets);
      return { resource, sockets, keepsSockets: true };
    }
    if (present !== undefined && !present.sockets.mayServe(listener)) {
      const refusal = `Listener ${name}: reuse port cannot be changed during an update`;
      return { refusal, isBinding: false };
    }
    const conflict = addressConflict(listener, this.#accepting());
    if (conflict !== undefined) return { refusal: conflict, isBinding: false };
    try {
      const bound = bindListener(listener, workers, await this.#supply.taken(listener));
      if (this.#claimsFiles) bound.sockets.claimFiles();
      return { ...bound, keepsSockets: false };
    } catch (error) {
      if (!(error instanceof BindError || error instanceof HotRestartRefused)) throw error;
      return { refusal: error.message, isBinding: true };
    }
  }

  /** Gives a prepared version up. */
  discard({ sockets, keepsSockets }: PreparedListener): void {
    if (!keepsSockets) sockets.close();
  }

  /**
   * Workers that are set up from now on get this version; nobody accepts on new sockets before
   * `accept`. Returns what undoes it, and what follows when all workers have it: the sockets of the
   * version before are closed here, then by the workers.
   */
  install(prepared: PreparedListener): { undo(): void; retireFormer(): void; done(): void } {
    const { resource, sockets, keepsSockets } = prepared;
    const { name } = resource;
    const former = this.#listeners.get(name);
    const isKnown = keepsSockets && former?.isKnown === true;
    this.#listeners.set(name, { resource, sockets, isStopped: false, isKnown });
    return {
      undo: () => {
        this.discard(prepared);
        if (former === undefined) this.#listeners.delete(name);
        else this.#listeners.set(name, former);
      },
      retireFormer: () => {
        if (!keepsSockets && former !== undefined && !former.isStopped) {
          this.#refuseNew(former.sockets);
          former.sockets.close();
        }
      },
      done: () => {
        const present = this.#listeners.get(name);
        if (present !== undefined) present.isKnown = true;
        if (!keepsSockets) this.#changed?.(name, sockets.ownDescriptors());
      },
    };
  }

  /** From here on the kernel completes connections of this listener. Throws `BindError`. */
  listen(name: string): void {
    if (!this.#isPaused) this.#listeners.get(name)?.sockets.listen();
  }

  /** The listener is gone; its sockets are closed. */
  forget(name: string): void {
    this.close([name]);
    this.#listeners.delete(name);
  }

  /** Name and bound addresses of all listeners: one that was stopped is still configured. */
  status(): readonly ListenerState[] {
    return [...this.#listeners.values()].map(
      ({ resource: { name, addresses, isInternal = false } }) => ({ name, addresses, isInternal }),
    );
  }

  /** Stopped ones are counted, as Envoy does. */
  get size(): number {
    return this.#listeners.size;
  }

  get names(): readonly string[] {
    return this.resources().map(({ name }) => name);
  }

  /** Those with a socket that is not among these. */
  namesBeyond(passed: ReadonlySet<number>): readonly string[] {
    const open = this.#accepting().filter(({ sockets }) => !sockets.areAllOf(passed));
    return open.map(({ resource }) => resource.name);
  }

  /** The socket of that worker for an address such as `tcp://127.0.0.1:80`; it stays ours, too. */
  socketFor(address: string, workerIndex: number): number | undefined {
    for (const { sockets } of this.#accepting()) {
      const found = sockets.socketsFor(address)[workerIndex];
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /**
   * Nobody is to accept, or everybody again; gives the names of the listeners that this is about.
   */
  hold(isHeld: boolean): readonly string[] {
    this.#isHeld = isHeld;
    const held = this.resources().filter(({ bypassesOverload }) => !bypassesOverload);
    return held.map(({ name }) => name);
  }

  /** The next epoch accepts now. `passed` stay open, in case it dies. */
  pause(passed: ReadonlySet<number>): void {
    this.#isPaused = true;
    for (const { resource, sockets } of this.#accepting()) {
      this.#refuseNew(sockets, passed);
      sockets.keepOnly(passed);
      if (!sockets.isOpen) this.#changed?.(resource.name, []);
    }
  }

  /** Undoes `pause`. Throws `BindError` when an address that was given up is taken by now. */
  resume(): void {
    this.#isPaused = false;
    for (const { sockets } of this.#accepting()) sockets.restore();
  }

  /** Sockets that the service manager does not have yet, by listener. */
  ownDescriptors(): readonly { readonly name: string; readonly fds: readonly number[] }[] {
    return [...this.#listeners].map(([name, { sockets }]) => ({
      name,
      fds: sockets.ownDescriptors(),
    }));
  }

  /** Files of unix sockets that came from the epoch before are removed at the end. */
  claimFiles(): void {
    this.#claimsFiles = true;
    for (const { sockets } of this.#accepting()) sockets.claimFiles();
  }

  /** New connections are refused from here on, once the workers have closed their copies too. */
  close(names: readonly string[]): void {
    for (const name of this.#stop(names, new Set())) this.#changed?.(name, []);
  }

  /** The server ends. `passed` are sockets with which another epoch serves on. */
  closeAll(passed: ReadonlySet<number> = new Set()): void {
    this.#stop(this.names, passed);
  }

  /** Returns those that were open. */
  #stop(names: readonly string[], passed: ReadonlySet<number>): readonly string[] {
    const open = names.filter((name) => this.#listeners.get(name)?.isStopped === false);
    for (const name of open) {
      const listener = this.#listeners.get(name);
      if (listener === undefined) continue;
      listener.isStopped = true;
      this.#refuseNew(listener.sockets, passed);
      listener.sockets.close(passed);
    }
    return open;
  }

  #refuseNew(sockets: ListeningSockets, passed?: ReadonlySet<number>): void {
    if (!this.#areStored && !this.#supply.isParentThere) sockets.refuseNew(passed);
  }

  #bind(listener: ResolvedListener, workers: number, taken: readonly (readonly number[])[]): void {
    const bound = bindListener(listener, workers, taken);
    this.#listeners.set(listener.resource.name, { ...bound, isStopped: false, isKnown: true });
  }

  #accepting(): readonly OpenListener[] {
    return [...this.#listeners.values()].filter(({ isStopped }) => !isStopped);
  }
}
