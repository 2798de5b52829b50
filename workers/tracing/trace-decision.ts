/**
 * Decides whether a request is traced, and why: by what its id says, what the client or a service
 * forces, and by the shares that are sampled. The reason is written into the request id.
 */
import type { TracingSettings } from '../../shared/resources/tracing/tracing.ts';
import { numberOfRequestId } from '../../shared/runtime/draw.ts';
import { isEnabled, type Runtime } from '../loop/runtime.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import type { StreamInfo } from '../stream/stream-info.ts';

export type TraceReason = StreamInfo['traceReason'];

const UUID_LENGTH = 36;
const REASON_AT = 14;
/** The share that a request id draws from. */
const DRAWS = 10_000;

const DIGITS = {
  not_traceable: '4',
  sampling: '9',
  service_forced: 'a',
  client_forced: 'b',
} as const satisfies Record<TraceReason, string>;

const REASONS: ReadonlyMap<string, TraceReason> = new Map([
  ['9', 'sampling'],
  ['a', 'service_forced'],
  ['b', 'client_forced'],
]);

type DecisionSettings = Pick<TracingSettings, 'sampling' | 'packsReason' | 'drawsByRequestId'>;

/** The route's shares stand in place of the manager's. */
export function decideTrace(
  headers: HeaderMap,
  info: StreamInfo,
  settings: DecisionSettings,
  runtime: Runtime,
): TraceReason {
  if (!settings.drawsByRequestId) return 'sampling';
  const number = numberOfRequestId(info.requestId);
  if (number === undefined) return 'not_traceable';
  const draw = number % DRAWS;
  const sampling = info.route?.tracing?.sampling ?? settings.sampling;
  const known = settings.packsReason ? reasonIn(info.requestId) : 'not_traceable';
  const drawn = known === 'not_traceable' ? drawReason(headers, sampling, runtime, draw) : known;
  const reason = isEnabled(sampling.overall, runtime, draw) ? drawn : 'not_traceable';
  if (settings.packsReason && reason !== known) writeReason(headers, info, reason);
  return reason;
}

function drawReason(
  headers: HeaderMap,
  { client, random }: TracingSettings['sampling'],
  runtime: Runtime,
  draw: number,
): TraceReason {
  if (headers.has('x-client-trace-id') && isEnabled(client, runtime, runtime.random())) {
    return 'client_forced';
  }
  if (headers.has('x-envoy-force-trace')) return 'service_forced';
  return isEnabled(random, runtime, draw) ? 'sampling' : 'not_traceable';
}

function reasonIn(requestId: string): TraceReason {
  if (requestId.length !== UUID_LENGTH) return 'not_traceable';
  return REASONS.get(requestId[REASON_AT] ?? '') ?? 'not_traceable';
}

/** What is no UUID has no room for it. */
function writeReason(headers: HeaderMap, info: StreamInfo, reason: TraceReason): void {
  const { requestId: id } = info;
  if (id.length !== UUID_LENGTH) return;
  info.requestId = id.slice(0, REASON_AT) + DIGITS[reason] + id.slice(REASON_AT + 1);
  headers.set('x-request-id', info.requestId);
}
