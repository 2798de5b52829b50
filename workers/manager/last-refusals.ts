/**
 * Remembers the last request that was answered with 4xx and the last one without a route, for an
 * operator who wonders what they ask for. One of each for the whole worker.
 */
import type { Refusals, RefusedRequest } from '../../shared/messages/refusals.ts';
import type { StreamInfo } from '../stream/stream-info.ts';

/** Characters that are kept of a path, and of a host. */
const TEXT_MAX = 200;
const UNROUTED = 'route_not_found';

export class LastRefusals {
  #clientError: RefusedRequest | undefined = undefined;
  #unrouted: RefusedRequest | undefined = undefined;

  /** Called for an answer of 4xx. */
  note(info: StreamInfo, status: number): void {
    const { requestHeaders } = info;
    const refused = {
      atMs: info.startWallMs,
      status,
      authority: kept(requestHeaders?.authority ?? ''),
      path: kept(withoutQuery(requestHeaders?.path ?? '')),
    };
    this.#clientError = refused;
    if (info.responseCodeDetails === UNROUTED) this.#unrouted = refused;
  }

  read(): Refusals {
    const [clientError, unrouted] = [this.#clientError, this.#unrouted];
    return {
      ...(clientError !== undefined && { clientError }),
      ...(unrouted !== undefined && { unrouted }),
    };
  }
}

/** Queries may carry what nobody else should read. */
function withoutQuery(path: string): string {
  const end = path.search(/[?#]/);
  return end === -1 ? path : path.slice(0, end);
}

function kept(text: string): string {
  return text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}…` : text;
}
