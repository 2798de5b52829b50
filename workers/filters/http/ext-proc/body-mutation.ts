/** What answers make of bodies, and what is said of those that they cannot. */
import type { HeaderMap } from '../../../stream/header-map.ts';
import type { BodyMutation } from './messages.ts';

export const NOT_STREAMED =
  'spurious_message:_streamed_response_is_received_while_body_mode__is_not_FULL_DUPLEX_STREAMED';
export const NOT_DUPLEX =
  'spurious_message:_Normal_body_mutation_response_is_received_while_body_mode__is_FULL_DUPLEX_STREAMED';
export const SPURIOUS = 'spurious_message';
export const WRONG_LENGTH = 'mismatch_between_content_length_and_the_length_of_the_mutated_body';
/** The processor gives back more than its receiver takes. */
export const FLOODED = 'ext_proc_error_body_exceeds_limit';
const NOTHING = Buffer.alloc(0);

export function mutated(body: BodyMutation | undefined, own: Buffer): Buffer {
  if (body?.kind === 'body') return Buffer.from(body.bytes);
  return body?.kind === 'clear' ? NOTHING : own;
}

/** The headers, which have not gone on, say another length than the body has now. */
export function hasWrongLength(
  headers: HeaderMap,
  body: BodyMutation | undefined,
  own: Buffer,
): boolean {
  const length = headers.get('content-length');
  if (body === undefined || length === undefined) return false;
  return body.kind === 'streamed' || Number(length) !== mutated(body, own).length;
}
