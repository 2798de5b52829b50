/**
 * `x-request-id`: random UUIDs of version 4 whose fifteenth character also carries the trace
 * decision (`4` none, `9` sampled, `a` forced by a service, `b` forced by a client).
 */
import { randomFillSync } from 'node:crypto';

const UUID_LENGTH = 36;
const TRACE_POSITION = 14;
const NO_TRACE = '4';
const RANDOM_BYTES = 16;
/** Ids that are made at once: each is then a piece of one text, without work of its own. */
const BLOCK_IDS = 64;
const HEX = Buffer.from('0123456789abcdef', 'latin1');
/** Where the two characters of each byte stand. */
const PLACES = Uint8Array.of(0, 2, 4, 6, 9, 11, 14, 16, 19, 21, 24, 26, 28, 30, 32, 34);
const BLANK_ID = '00000000-0000-4000-8000-000000000000';

const random = Buffer.alloc(BLOCK_IDS * RANDOM_BYTES);
const written = Buffer.from(BLANK_ID.repeat(BLOCK_IDS), 'latin1');
let block = '';
let given = 0;

export function newRequestId(): string {
  if (given === block.length) fillBlock();
  const id = block.slice(given, given + UUID_LENGTH);
  given += UUID_LENGTH;
  return id;
}

/** The same id without a trace decision; anything that is no UUID stays as it is. */
export function withoutTraceDecision(requestId: string): string {
  if (requestId.length !== UUID_LENGTH || requestId[TRACE_POSITION] === NO_TRACE) return requestId;
  return requestId.slice(0, TRACE_POSITION) + NO_TRACE + requestId.slice(TRACE_POSITION + 1);
}

function fillBlock(): void {
  randomFillSync(random);
  for (let id = 0; id < BLOCK_IDS; id++) writeId(id * RANDOM_BYTES, id * UUID_LENGTH);
  block = written.toString('latin1');
  given = 0;
}

/** Writes the bytes at `from` as RFC 9562 section 5.4 has them: version 4, variant 10. */
function writeId(from: number, to: number): void {
  random[from + 6] = ((random[from + 6] ?? 0) & 0x0f) | 0x40;
  random[from + 8] = ((random[from + 8] ?? 0) & 0x3f) | 0x80;
  for (let byte = 0; byte < RANDOM_BYTES; byte++) {
    const value = random[from + byte] ?? 0;
    const at = to + (PLACES[byte] ?? 0);
    written[at] = HEX[value >> 4] ?? 0;
    written[at + 1] = HEX[value & 0x0f] ?? 0;
  }
}
