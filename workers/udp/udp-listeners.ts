/** The listeners of datagrams of this worker, by name. */
import type { ListenerResource } from '../../shared/resources/listener.ts';
import type { UdpListenerResource } from '../../shared/resources/udp-listener.ts';
import type { ListeningDescriptor } from '../listener/listener-commands.ts';
import { makeUdpVersion, UdpListener, type UdpListenerParts } from './udp-listener.ts';

export class UdpListeners {
  readonly #parts: UdpListenerParts;
  readonly #listeners = new Map<string, UdpListener>();

  constructor(parts: UdpListenerParts) {
    this.#parts = parts;
  }

  has(name: string): boolean {
    return this.#listeners.has(name);
  }

  /** Throws where it cannot be made; what it returns puts it into force. */
  prepare(resource: ListenerResource, udp: UdpListenerResource): () => void {
    const { name } = resource;
    if (this.#listeners.get(name)?.goesOnAs(resource) === true) return () => undefined;
    const version = makeUdpVersion(resource, udp, this.#parts);
    return () => {
      const known = this.#listeners.get(name);
      if (known === undefined) this.#listeners.set(name, new UdpListener(version, this.#parts));
      else known.replace(version);
    };
  }

  listen(name: string, sockets: readonly ListeningDescriptor[]): void {
    this.#listeners.get(name)?.listen(sockets);
  }

  async stopListening(names: readonly string[]): Promise<void> {
    await Promise.all(names.map(async (name) => this.#listeners.get(name)?.stop()));
  }

  /** Sessions end with it. */
  remove(name: string): void {
    const listener = this.#listeners.get(name);
    this.#listeners.delete(name);
    void listener?.remove();
  }

  async close(): Promise<void> {
    const listeners = [...this.#listeners.values()];
    this.#listeners.clear();
    await Promise.all(listeners.map(async (listener) => listener.remove()));
  }
}
