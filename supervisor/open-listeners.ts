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

  /** As workers get them: with the addresses that were bound. */
  resources(): readonly ListenerResource[] {
    return [...this.#listeners.values()].map(({ resource }) => resource);
  }

  sockets(): readonly ListeningSockets[] {
    return [...this.#listeners.values()].map(({ sockets }) => sockets);
  }

  /** Name and bound addresses of the listeners that accept. */
  status(): readonly { readonly name: string; readonly addresses: readonly BoundAddress[] }[] {
    return this.resources().map(({ name, addresses }) => ({ name, addresses }));
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** New connections are refused from here on, once the workers have closed their copies too. */
  close(names: readonly string[]): void {
    for (const name of names) {
      this.#listeners.get(name)?.sockets.close();
      this.#listeners.delete(name);
    }
  }

  closeAll(): void {
    this.close([...this.#listeners.keys()]);
  }

  #bind(listener: ResolvedListener, workers: number): void {
    const { name } = listener.resource;
    const sockets = ListeningSockets.bind({ name, ...listener }, workers);
    const resource = { ...listener.resource, addresses: sockets.addresses };
    this.#listeners.set(name, { resource, sockets });
  }
}
