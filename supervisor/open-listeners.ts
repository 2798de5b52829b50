/**
 * The listeners of this server that have sockets: binds them, knows which of them still accept, and
 * closes them. It tells no worker anything.
 */
import type { BoundAddress, ListenerResource } from '../shared/resources/listener.ts';
import type { ResolvedListener } from './resources/resolved-bootstrap.ts';
import { ListeningSockets } from './sockets/listening-sockets.ts';

interface OpenListener {
  readonly resource: ListenerResource;
  readonly sockets: ListeningSockets;
  isStopped: boolean;
}

export class OpenListeners {
  /** In the order of the configuration. */
  readonly #listeners = new Map<string, OpenListener>();

  /**
   * Binds all addresses of all listeners, or throws `BindError` with none of them open. The caller
   * lets them listen when workers are ready.
   */
  bindAll(listeners: readonly ResolvedListener[], workers: number): void {
    try {
      for (const listener of listeners) this.#bind(listener, workers);
    } catch (error) {
      this.closeAll();
      throw error;
    }
  }

  /** Those that accept, as workers get them: with the addresses that were bound. */
  resources(): readonly ListenerResource[] {
    return this.#accepting().map(({ resource }) => resource);
  }

  sockets(): readonly ListeningSockets[] {
    return this.#accepting().map(({ sockets }) => sockets);
  }

  /** Name and bound addresses of all listeners: one that was stopped is still configured. */
  status(): readonly { readonly name: string; readonly addresses: readonly BoundAddress[] }[] {
    return [...this.#listeners.values()].map(({ resource: { name, addresses } }) => ({
      name,
      addresses,
    }));
  }

  /** Stopped ones are counted, as the reference does. */
  get size(): number {
    return this.#listeners.size;
  }

  /** New connections are refused from here on, once the workers have closed their copies too. */
  close(names: readonly string[]): void {
    for (const name of names) {
      const listener = this.#listeners.get(name);
      if (listener === undefined || listener.isStopped) continue;
      listener.isStopped = true;
      listener.sockets.close();
    }
  }

  closeAll(): void {
    this.close([...this.#listeners.keys()]);
  }

  #bind(listener: ResolvedListener, workers: number): void {
    const { name } = listener.resource;
    const sockets = ListeningSockets.bind({ name, ...listener }, workers);
    const resource = { ...listener.resource, addresses: sockets.addresses };
    this.#listeners.set(name, { resource, sockets, isStopped: false });
  }

  #accepting(): readonly OpenListener[] {
    return [...this.#listeners.values()].filter(({ isStopped }) => !isStopped);
  }
}
