/**
 * Writes what outlier detection does to the hosts of one cluster into the event log, where there is
 * one.
 */
import { addressOf } from '../../shared/addresses/host-address.ts';
import type { HostResource } from '../../shared/resources/clusters/cluster.ts';
import type { EventLogs } from './event-log.ts';
import { type OutlierEvent, outlierEventMessage } from './outlier-events.ts';

export interface OutlierLogParts {
  readonly cluster: string;
  readonly eventLogs: EventLogs;
  /** Undefined: nothing is written. */
  readonly path: string | undefined;
  /** By id; undefined for one that is gone. */
  hostOf(id: string): HostResource | undefined;
}

export class OutlierLog {
  readonly #parts: OutlierLogParts;

  constructor(parts: OutlierLogParts) {
    this.#parts = parts;
  }

  /** `host` is its id, which stands for the address of one that is gone. */
  write(event: Omit<OutlierEvent, 'cluster'>): void {
    const { cluster, eventLogs, path } = this.#parts;
    if (path === undefined) return;
    const known = this.#parts.hostOf(event.host);
    const host = known === undefined ? event.host : addressOf(known);
    eventLogs.write(path, outlierEventMessage({ ...event, host, cluster }));
  }
}
