/** METADATA that came before it could be sent on; bounded, and what is beyond is dropped. */
import type { Metadata } from '../../stream/codec.ts';

/** Blocks of one request; each is bounded by the codec. */
const MAX_WAITING = 16;

/** The list with one more, made when there is something to wait. */
export function withWaiting(waiting: Metadata[] | undefined, metadata: Metadata): Metadata[] {
  const list = waiting ?? [];
  if (list.length < MAX_WAITING) list.push(metadata);
  return list;
}
