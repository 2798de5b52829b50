/** One listener of datagrams in this worker: its sockets, and the filter that takes what comes. */
import { isDeepStrictEqual } from 'node:util';
import { UDP_LISTENER } from '../../shared/stats/templates/udp.ts';
import type { BoundAddress, ListenerResource } from '../../shared/resources/listener.ts';
import type { UdpListenerResource } from '../../shared/resources/udp-listener.ts';
import { ListenerCounts } from '../listener/listener-counts.ts';
import type { ListeningDescriptor } from '../listener/listener-commands.ts';
import { ipAddress } from '../net/addresses.ts';
import type { ListenerInfo } from '../stream/connection-facts.ts';
import { type DatagramHandler, DatagramSocket } from './datagram-socket.ts';
import { type DatagramFilter, UDP_FILTERS } from './udp-filters.ts';
import type { UdpProxyParts } from './udp-proxy.ts';

/** Answers to what was asked may come for so long after the next epoch has taken over. */
const LINGER_MS = 5_000;

/** One version of a listener, ready to read datagrams. */
export interface UdpVersion {
  readonly resource: ListenerResource;
  readonly maxDatagramBytes: number;
  readonly filter: DatagramFilter | undefined;
}

export interface UdpListenerParts extends UdpProxyParts {
  readonly heritage: { readonly workerIndex: number };
}

/** Throws where the filter cannot be made. */
export function makeUdpVersion(
  resource: ListenerResource,
  { filter: config, maxDatagramBytes }: UdpListenerResource,
  parts: UdpProxyParts,
): UdpVersion {
  const listener = infoOf(resource, resource.addresses[0]);
  const filter = config && UDP_FILTERS.make(config, parts, listener);
  return { resource, maxDatagramBytes, filter };
}

export class UdpListener {
  readonly #parts: UdpListenerParts;
  readonly #counts: ListenerCounts;
  readonly #base: number;
  readonly #doors = new Set<DatagramSocket>();
  /** Sockets that nothing is read of any more. */
  readonly #lingering = new Set<DatagramSocket>();
  #version: UdpVersion;
  #doorCount = 0;

  constructor(version: UdpVersion, parts: UdpListenerParts) {
    const { statName } = version.resource;
    this.#parts = parts;
    this.#version = version;
    this.#counts = new ListenerCounts(statName, parts.stats, parts.heritage.workerIndex);
    this.#base = parts.stats.defineBlock(UDP_LISTENER, `listener.${statName}.udp.`);
  }

  /** Whether its filter can go on, with its sessions, for a new version. */
  goesOnAs({ udp, statName }: ListenerResource): boolean {
    const { resource } = this.#version;
    return resource.statName === statName && isDeepStrictEqual(resource.udp, udp);
  }

  replace(version: UdpVersion): void {
    this.#version.filter?.release();
    this.#version = version;
  }

  /** Throws on the first descriptor that cannot be read. */
  listen(sockets: readonly ListeningDescriptor[]): void {
    for (const { fd, address } of sockets) this.#open(fd, address);
  }

  /** Nothing is read any more; answers to what was asked still go out for a while. */
  async stop(): Promise<void> {
    const doors = [...this.#doors];
    this.#doors.clear();
    await Promise.all(
      doors.map(async (door) => {
        if (door.stopReading()) this.#linger(door);
        else await door.close();
      }),
    );
  }

  async remove(): Promise<void> {
    const doors = [...this.#doors, ...this.#lingering];
    this.#doors.clear();
    this.#lingering.clear();
    await Promise.all(doors.map(async (door) => door.close()));
    this.#version.filter?.release();
    this.#parts.stats.releaseBlock(this.#base);
    this.#counts.end();
  }

  #linger(door: DatagramSocket): void {
    this.#lingering.add(door);
    const close = (): void => {
      this.#lingering.delete(door);
      void door.close();
    };
    this.#parts.clock.after(LINGER_MS, close, { unref: true });
  }

  #open(fd: number, address: BoundAddress): void {
    const listener = infoOf(this.#version.resource, address);
    const doorKey = String((this.#doorCount += 1));
    const handler: DatagramHandler = {
      onDatagram: (data, ip, port) => {
        const { maxDatagramBytes, filter } = this.#version;
        if (data.length <= maxDatagramBytes) {
          filter?.receive(data, { ip, port, door }, doorKey, listener);
        } else {
          const { stats } = this.#parts;
          stats.increment(this.#base + UDP_LISTENER.index.downstream_rx_datagram_dropped);
        }
      },
      onReceiveError: () => this.#version.filter?.receiveFailed(),
      onSendError: () => this.#version.filter?.sendFailed(),
      onException: () => undefined,
    };
    const { loop } = this.#parts;
    const ip = address.kind === 'ip' ? address.address : '';
    const door = DatagramSocket.adopt(fd, ip, loop, handler);
    this.#doors.add(door);
  }
}

function infoOf(
  { name, direction }: ListenerResource,
  address: BoundAddress | undefined,
): ListenerInfo {
  const localAddress =
    address?.kind === 'ip' ? ipAddress(address.address, address.port) : ipAddress('', 0);
  return { name, direction, filterChainName: '', localAddress };
}
