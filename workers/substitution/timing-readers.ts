/** Substitution commands about time: when things happened and how long they took. */
import type { Clock } from '../../shared/process/clock.ts';
import type { FormatCommand } from '../../shared/substitution/format.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { plain, unknown } from './reader-factory.ts';
import type { ReaderFactory } from './reader-factory.ts';
import { compileTimeFormat, makeIsoFormatter } from '../../shared/substitution/strftime.ts';
import type { TimeFormatter } from '../../shared/substitution/strftime.ts';
import type { Reader } from './reader-factory.ts';

const LOCAL_DEFAULT = '%Y-%m-%dT%H:%M:%E3S%z';

export const TIMING_READERS = {
  START_TIME: ({ args }) => startTime(utcFormat(args)),
  START_TIME_LOCAL: ({ args }) => startTime(localFormat(args)),
  EMIT_TIME: ({ args }, { clock }) => emitTime(utcFormat(args), clock),
  EMIT_TIME_LOCAL: ({ args }, { clock }) => emitTime(localFormat(args), clock),
  DURATION: (_, { clock }) => duration(clock),
  REQUEST_DURATION: plain((info) => milliseconds(info.startMs, info.lastDownstreamRxMs)),
  REQUEST_TX_DURATION: plain((info) => milliseconds(info.startMs, info.lastUpstreamTxMs)),
  RESPONSE_DURATION: plain((info) => milliseconds(info.startMs, info.firstUpstreamRxMs)),
  RESPONSE_TX_DURATION: plain((info) =>
    milliseconds(info.firstUpstreamRxMs, info.lastDownstreamTxMs),
  ),
  COMMON_DURATION: commonDuration,
  UPSTREAM_CONNECTION_POOL_READY_DURATION: plain((info) =>
    milliseconds(info.startMs, info.upstreamPoolReadyMs),
  ),
  DOWNSTREAM_HANDSHAKE_DURATION: unknown,
  ROUNDTRIP_DURATION: unknown,
  ROUTE_RESOLUTION_TIME_US: unknown,
  DOWNSTREAM_CX_RTT: plain(() => 0),
} satisfies Record<string, ReaderFactory>;

/** How long the stream took, or has taken so far. */
function duration(clock: Clock): Reader {
  return ({ startMs, endMs }) => {
    const untilMs = endMs < 0 ? clock.monotonicMs() : endMs;
    return Math.max(Math.floor(untilMs - startMs), 0);
  };
}

function utcFormat([format]: readonly string[]): TimeFormatter {
  return format === undefined ? makeIsoFormatter() : compileTimeFormat(format, 'utc');
}

function localFormat([format]: readonly string[]): TimeFormatter {
  return compileTimeFormat(format ?? LOCAL_DEFAULT, 'local');
}

function startTime(format: TimeFormatter): Reader {
  return (info) => format(info.startWallMs);
}

function emitTime(format: TimeFormatter, clock: Clock): Reader {
  return () => format(clock.wallMs());
}

/** Whole milliseconds; undefined while one of the moments has not come. */
function milliseconds(fromMs: number, toMs: number): number | undefined {
  return fromMs < 0 || toMs < 0 ? undefined : Math.floor(toMs - fromMs);
}

const POINTS = new Map<string, (info: StreamInfo) => number>(
  Object.entries({
    DS_RX_BEG: (info: StreamInfo) => info.startMs,
    DS_RX_END: (info: StreamInfo) => info.lastDownstreamRxMs,
    US_CX_BEG: (info: StreamInfo) => info.upstreamConnectStartMs,
    US_CX_END: (info: StreamInfo) => info.upstreamConnectEndMs,
    US_HS_END: (info: StreamInfo) => info.upstreamHandshakeEndMs,
    US_TX_BEG: (info: StreamInfo) => info.firstUpstreamTxMs,
    US_TX_END: (info: StreamInfo) => info.lastUpstreamTxMs,
    US_RX_BEG: (info: StreamInfo) => info.firstUpstreamRxMs,
    US_RX_BODY_BEG: (info: StreamInfo) => info.firstUpstreamBodyRxMs,
    US_RX_END: (info: StreamInfo) => info.lastUpstreamRxMs,
    DS_TX_BEG: (info: StreamInfo) => info.firstDownstreamTxMs,
    DS_TX_END: (info: StreamInfo) => info.lastDownstreamTxMs,
  }),
);

const UNITS_PER_MS = new Map(Object.entries({ ms: 1, us: 1e3, ns: 1e6 }));

function commonDuration({ args: [from = '', to = '', precision = 'ms'] }: FormatCommand): Reader {
  const start = POINTS.get(from);
  const end = POINTS.get(to);
  const units = UNITS_PER_MS.get(precision) ?? 1;
  if (start === undefined || end === undefined) return () => undefined;
  return (info) => {
    const startMs = start(info);
    const endMs = end(info);
    if (startMs < 0 || endMs < 0 || endMs < startMs) return undefined;
    return Math.floor((endMs - startMs) * units);
  };
}
