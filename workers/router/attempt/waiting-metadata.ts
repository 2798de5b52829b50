/** METADATA of a request on its way to a host; what waits for one is bounded, the rest dropped. */
import type { Metadata, RequestEncoder } from '../../stream/codec.ts';
import type { UpstreamConnectionInfo } from '../../upstream/pools/http-pool.ts';

/** Blocks of one request; each is bounded by the codec. */
const MAX_WAITING = 16;

/** The list with one more, made when there is something to wait. */
export function withWaiting(waiting: Metadata[] | undefined, metadata: Metadata): Metadata[] {
  const list = waiting ?? [];
  if (list.length < MAX_WAITING) list.push(metadata);
  return list;
}

/** Behind the request's headers; a protocol that has none counts it. */
export function sendMetadata(
  encoder: RequestEncoder,
  connection: UpstreamConnectionInfo | undefined,
  metadata: Metadata,
): void {
  if (encoder.encodeMetadata === undefined) connection?.onUnsupportedMetadata?.();
  else encoder.encodeMetadata(metadata);
}
