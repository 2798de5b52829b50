/** The taps of a chain's or a cluster's connections: one record, or series of them, per connection. */
import { randomBytes } from 'node:crypto';
import type { SocketTap as SocketTapSettings } from '../../shared/resources/tap.ts';
import type { StatWriter } from '../../shared/stats/stat-writer.ts';
import { SOCKET_TAP } from '../../shared/stats/templates/tap.ts';
import { isEnabled, type Runtime } from '../loop/runtime.ts';
import type { StreamAddresses } from '../net/byte-stream.ts';
import type { TransportWatcher, Watch } from '../net/transport-watcher.ts';
import type { ActiveTap } from './request-tap.ts';
import { SocketTap } from './socket-tap.ts';

interface SocketTapParts extends Omit<SocketTapSettings, 'source'> {
  readonly inForce: () => ActiveTap | undefined;
}

interface SocketTapsEnv {
  readonly stats: StatWriter;
  readonly runtime: Runtime;
  readonly nowMs: () => number;
}

export interface WatchedSockets {
  readonly watch: Watch;
  release(): void;
}

export class SocketTaps implements WatchedSockets {
  readonly #taps: readonly (SocketTapParts & { readonly base: number })[];
  readonly #env: SocketTapsEnv;

  constructor(taps: readonly SocketTapParts[], env: SocketTapsEnv) {
    this.#env = env;
    this.#taps = taps.map((tap) => {
      const base = env.stats.defineBlock(SOCKET_TAP, `transport.tap.${tap.statPrefix}`);
      return { ...tap, base };
    });
  }

  readonly watch: Watch = (addresses) => {
    const watchers = this.#taps.flatMap((tap) => this.#watcher(tap, addresses) ?? []);
    const [only] = watchers;
    return watchers.length > 1 ? new Several(watchers) : only;
  };

  release(): void {
    for (const { base } of this.#taps) this.#env.stats.releaseBlock(base);
  }

  #watcher(
    { inForce, base, connectionPerEvent }: SocketTapParts & { readonly base: number },
    addresses: StreamAddresses,
  ): TransportWatcher | undefined {
    const tap = inForce();
    if (tap === undefined) return undefined;
    const { stats, runtime } = this.#env;
    const { enabled } = tap.settings;
    if (enabled !== undefined && !isEnabled(enabled, runtime, runtime.random())) {
      stats.increment(base + SOCKET_TAP.index.cx_sampled_out);
      return undefined;
    }
    return new SocketTap({
      tap,
      traceId: randomBytes(8).readBigUInt64LE(),
      addresses,
      connectionPerEvent,
      counted: (how) => stats.increment(base + SOCKET_TAP.index[how]),
      nowMs: () => this.#env.nowMs(),
    });
  }
}

class Several implements TransportWatcher {
  readonly #watchers: readonly TransportWatcher[];

  constructor(watchers: readonly TransportWatcher[]) {
    this.#watchers = watchers;
  }

  onConnect(): void {
    for (const watcher of this.#watchers) watcher.onConnect();
  }

  onRead(input: Buffer, start: number, end: number): void {
    for (const watcher of this.#watchers) watcher.onRead(input, start, end);
  }

  onWrite(data: string | Uint8Array): void {
    for (const watcher of this.#watchers) watcher.onWrite(data);
  }

  onClose(): void {
    for (const watcher of this.#watchers) watcher.onClose();
  }
}
