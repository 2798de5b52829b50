/**
 * `x-request-id`: random UUIDs of version 4 whose fifteenth character also carries the trace
 * decision (`4` none, `9` sampled, `a` forced by a service, `b` forced by a client).
 */
import { randomUUID } from 'node:crypto';

const UUID_LENGTH = 36;
const TRACE_POSITION = 14;
const NO_TRACE = '4';

export function newRequestId(): string {
  return randomUUID();
}

/** The same id without a trace decision; anything that is no UUID stays as it is. */
export function withoutTraceDecision(requestId: string): string {
  if (requestId.length !== UUID_LENGTH || requestId[TRACE_POSITION] === NO_TRACE) return requestId;
  return requestId.slice(0, TRACE_POSITION) + NO_TRACE + requestId.slice(TRACE_POSITION + 1);
}
