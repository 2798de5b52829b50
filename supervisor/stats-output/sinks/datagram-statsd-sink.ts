/** Sends statsd lines as datagrams. Nobody answers; what is lost is lost. */
import { setImmediate } from 'node:timers/promises';
import { openDatagramSender, type DatagramSender } from './datagram-sender.ts';
import type { FlushSnapshot } from './flush-snapshot.ts';
import { statsdLines, type LineOptions } from './statsd-lines.ts';
import type { DatagramTarget } from '../../stats/sink-config.ts';
import type { StatsSink } from './stats-sink.ts';

/** Datagrams sent between two turns of the event loop. */
const YIELD_AFTER = 128;

export interface DatagramStatsdOptions extends LineOptions {
  readonly target: DatagramTarget;
  /** Lines are joined up to this size; 0: one line per datagram. */
  readonly maxBytes: number;
}

export class DatagramStatsdSink implements StatsSink {
  readonly #options: DatagramStatsdOptions;
  #sender: DatagramSender | undefined;

  constructor(options: DatagramStatsdOptions) {
    this.#options = options;
  }

  async flush(snapshot: FlushSnapshot): Promise<void> {
    this.#sender ??= await openDatagramSender(this.#options.target);
    let sent = 0;
    for (const datagram of this.#datagrams(snapshot)) {
      this.#sender.send(datagram);
      if (++sent % YIELD_AFTER === 0) await setImmediate();
    }
  }

  async close(): Promise<void> {
    const sender = this.#sender;
    this.#sender = undefined;
    await sender?.close();
  }

  *#datagrams(snapshot: FlushSnapshot): Generator<string> {
    const { maxBytes } = this.#options;
    let datagram = '';
    for (const line of statsdLines(snapshot, this.#options)) {
      if (datagram !== '' && Buffer.byteLength(datagram) + 1 + Buffer.byteLength(line) > maxBytes) {
        yield datagram;
        datagram = '';
      }
      datagram = datagram === '' ? line : `${datagram}\n${line}`;
    }
    if (datagram !== '') yield datagram;
  }
}
