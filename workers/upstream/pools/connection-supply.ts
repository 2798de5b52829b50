/**
 * The connections of one pool: opens them while what waits exceeds what those that are there can
 * take, and ahead of that where the cluster wants it, within the limits of the cluster and the
 * host. Knows how many requests each could still take, not what a request is.
 */
import { CLUSTER } from '../../../shared/stats/templates/cluster.ts';
import { type Member, Members } from '../../loop/members.ts';
import type { Priority } from '../cluster-limits.ts';
import type { UpstreamCluster } from '../cluster.ts';
import type { UpstreamHost } from '../hosts/host.ts';
import type { ResourceLimits } from '../resource-limits.ts';
import { needsConnection, type PoolLoad } from './pool-load.ts';

const CX_OVERFLOW = CLUSTER.index.upstream_cx_overflow;

/** Connections that one event may begin. */
const CONNECTIONS_AT_ONCE = 3;

/** What a supply knows of a connection. */
export interface SuppliedConnection<Self> extends Member<Self> {
  /** Requests that it can take now, or will when it stands; 0 when it takes no more. */
  readonly room: number;
  /** Its room when the supply last looked. The supply's own. */
  countedRoom: number;
  /** It neither stands nor has failed. The supply's own. */
  isPending: boolean;
  /** Closes from this side; what it carries is told. */
  close(): void;
}

export interface SupplyPlace {
  readonly cluster: UpstreamCluster;
  readonly host: UpstreamHost;
  readonly priority: Priority;
  readonly limits: ResourceLimits;
}

export class ConnectionSupply<Connection extends SuppliedConnection<Connection>> {
  readonly #place: SupplyPlace;
  readonly #connect: () => Connection;
  readonly #all = new Members<Connection>();
  /** How many of them are pending. */
  #pending = 0;
  /** Those that stand and have room; the last one is taken first, so that others become idle. */
  readonly #ready: Connection[] = [];
  #room = 0;

  constructor(place: SupplyPlace, connect: () => Connection) {
    this.#place = place;
    this.#connect = connect;
  }

  get size(): number {
    return this.#all.size;
  }

  /** What connections can take, those included that are being made. */
  get room(): number {
    return this.#room;
  }

  /** A connection that can take a request now; it stays among the ready ones. */
  ready(): Connection | undefined {
    return this.#ready.at(-1);
  }

  /** Connects while `load` asks for more than there is; each connection that begins is new room. */
  connectAsNeeded(load: () => PoolLoad): void {
    const ratioAhead = this.#ratioAhead;
    for (let made = 0; made < CONNECTIONS_AT_ONCE; made++) {
      if (!needsConnection(load(), ratioAhead, 0) || !this.tryConnect()) return;
    }
  }

  /** False when a limit forbids it. */
  tryConnect(): boolean {
    const { cluster, host, limits, priority } = this.#place;
    if (!host.tryOpenConnection(limits, priority)) {
      const { writer, base } = cluster.stats;
      writer.increment(base + CX_OVERFLOW);
      // Other hosts may hold all connections; without one of its own this host would never answer.
      if (this.#all.size > 0) return false;
      host.openConnection(limits, priority);
    }
    const connection = this.#connect();
    connection.isPending = true;
    this.#pending++;
    this.#all.add(connection);
    this.#count(connection, connection.room);
    return true;
  }

  /** The connection stands. */
  connected(connection: Connection): void {
    this.#settle(connection);
    if (connection.room > 0) this.#ready.push(connection);
    this.#count(connection, connection.room);
  }

  /** The connection is not there, whatever comes of it. */
  failed(connection: Connection): void {
    this.#settle(connection);
    this.#count(connection, 0);
  }

  /** The connection took a request, ended one, or may carry more or fewer than before. */
  roomChanged(connection: Connection): void {
    const { room, countedRoom } = connection;
    if (room === countedRoom) return;
    this.#count(connection, room);
    if (connection.isPending) return;
    if (room === 0) this.#removeReady(connection);
    else if (countedRoom === 0) this.#ready.push(connection);
  }

  gone(connection: Connection): void {
    const { host, limits, priority } = this.#place;
    if (!this.#all.remove(connection)) return;
    this.#settle(connection);
    this.#removeReady(connection);
    this.#count(connection, 0);
    host.closeConnection(limits, priority);
  }

  /** Closes the connection that began last, when the others that are being made do without it. */
  closeExcess({ pending, active }: PoolLoad): void {
    if (this.#pending === 0) return;
    let latest = this.#all.last;
    while (latest?.isPending === false) latest = latest.previous;
    if (latest === undefined) return;
    const left = { pending, active, capacity: this.#room - latest.room };
    if (!needsConnection(left, this.#ratioAhead, 0)) latest.close();
  }

  /** Those that stand and have room. */
  readyOnes(): readonly Connection[] {
    return Array.from(this.#ready);
  }

  all(): readonly Connection[] {
    return this.#all.all();
  }

  get #ratioAhead(): number {
    const { cluster, host } = this.#place;
    const { preconnect } = cluster.resource;
    const isAhead = preconnect !== undefined && host.health === 'healthy';
    return isAhead ? preconnect.perHost : 1;
  }

  #settle(connection: Connection): void {
    if (!connection.isPending) return;
    connection.isPending = false;
    this.#pending--;
  }

  #removeReady(connection: Connection): void {
    const at = this.#ready.lastIndexOf(connection);
    if (at >= 0) this.#ready.splice(at, 1);
  }

  #count(connection: Connection, room: number): void {
    this.#room += room - connection.countedRoom;
    connection.countedRoom = room;
  }
}
