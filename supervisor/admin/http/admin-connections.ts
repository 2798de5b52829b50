/**
 * The open connections of the admin interface. There is always a place for a new one: where the
 * limit is reached, the connection that has been idle for longest is closed, so that a client which
 * holds a thousand of them keeps no probe away. Idle is who has sent no whole request, however
 * slowly it sends one.
 */
import type { Socket } from 'node:net';
import type { AdminLimits } from './admin-limits.ts';

export class AdminConnections {
  readonly #limits: Pick<AdminLimits, 'connections' | 'reservedConnections'>;
  readonly #onGaveWay: () => void;
  /** With the number of requests that each is answered now. */
  readonly #open = new Map<Socket, number>();
  /** Those that are answered none, in the order in which they came to be so. */
  readonly #idle = new Set<Socket>();
  readonly #reserved = new WeakSet<Socket>();

  constructor(
    limits: Pick<AdminLimits, 'connections' | 'reservedConnections'>,
    onGaveWay: () => void,
  ) {
    this.#limits = limits;
    this.#onGaveWay = onGaveWay;
  }

  /** False: all are busy, and there is no place left. */
  admit(socket: Socket): boolean {
    const { connections, reservedConnections } = this.#limits;
    if (this.#open.size >= connections && !this.#closeIdle()) {
      if (this.#open.size >= connections + reservedConnections) return false;
      this.#reserved.add(socket);
    }
    this.#open.set(socket, 0);
    this.#idle.add(socket);
    return true;
  }

  /** Beyond the limit: answers must be short. */
  isReserved(socket: Socket): boolean {
    return this.#reserved.has(socket);
  }

  /** A whole request came. */
  requestBegun(socket: Socket): void {
    const active = this.#open.get(socket);
    if (active === undefined) return;
    this.#open.set(socket, active + 1);
    this.#idle.delete(socket);
  }

  requestEnded(socket: Socket): void {
    const active = this.#open.get(socket);
    if (active === undefined) return;
    this.#open.set(socket, active - 1);
    if (active === 1) this.#idle.add(socket);
  }

  closed(socket: Socket): void {
    this.#open.delete(socket);
    this.#idle.delete(socket);
  }

  closeAll(): void {
    for (const socket of this.#open.keys()) socket.destroy();
  }

  #closeIdle(): boolean {
    const [longest] = this.#idle;
    if (longest === undefined) return false;
    this.closed(longest);
    longest.destroy();
    this.#onGaveWay();
    return true;
  }
}
