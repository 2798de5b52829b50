/**
 * Single requests whose way is written to the log at debug, whatever the log's level: those that an
 * operator asks for, as many and for as long as they say. Every other request is left alone.
 */
import { compileClient } from '../../shared/addresses/client-match.ts';
import { matchesGlob } from '../../shared/logging/file-pattern.ts';
import type { WatchOrder } from '../../shared/logging/watch-order.ts';
import type { Clock } from '../../shared/process/clock.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { RequestTrace, RequestTracer } from '../stream/request-trace.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { WatchedRequest } from './watched-request.ts';

export interface WatchParts {
  readonly clock: Clock;
  /** Writes a line at debug, whatever the level is. */
  readonly write: ((line: string) => void) | undefined;
}

interface Watch {
  readonly order: WatchOrder;
  readonly isClient: (ip: string) => boolean;
  readonly endsMs: number;
  left: number;
}

export class RequestWatches {
  readonly #parts: WatchParts;
  #watch: Watch | undefined;

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** Takes the place of the one before; undefined ends it. */
  watch(order: WatchOrder | undefined): void {
    this.#watch = order && {
      order,
      isClient: compileClient(order.client),
      endsMs: this.#parts.clock.monotonicMs() + order.forMs,
      left: order.count,
    };
  }

  /** Tracing of a connection manager that also tells of watched requests. */
  around(tracing: RequestTracer | undefined): RequestTracer {
    return {
      begin: (headers, info) => {
        const trace = tracing?.begin(headers, info);
        // What there is without a watch costs one look at a field.
        return this.#watch === undefined ? trace : this.#look(headers, info, trace);
      },
    };
  }

  #look(
    headers: HeaderMap,
    info: StreamInfo,
    trace: RequestTrace | undefined,
  ): RequestTrace | undefined {
    const watch = this.#watch;
    const { write } = this.#parts;
    if (watch === undefined || write === undefined) return trace;
    if (!this.#isMeant(watch, headers, info)) return trace;
    watch.left -= 1;
    if (watch.left <= 0) this.#watch = undefined;
    return new WatchedRequest(headers, info, trace, write);
  }

  #isMeant({ order, isClient, endsMs }: Watch, headers: HeaderMap, info: StreamInfo): boolean {
    if (this.#parts.clock.monotonicMs() >= endsMs) {
      this.#watch = undefined;
      return false;
    }
    const [path = ''] = headers.path.split('?', 1);
    if (order.path !== undefined && !matchesGlob(order.path, path)) return false;
    if (order.header !== undefined && headers.get(order.header.name) !== order.header.value)
      return false;
    return isClient(info.downstreamRemoteAddress.ip);
  }
}
