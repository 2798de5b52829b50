/** Compiles the conditions of access logs: which streams get a line. */
import type { AccessLogFilter, ComparisonOp } from '../../shared/resources/access-log.ts';
import { numberOfRequestId } from '../../shared/runtime/draw.ts';
import { readInteger } from '../../shared/runtime/read-runtime.ts';
import { compileCelCondition } from '../cel/compile-cel.ts';
import { HeaderMap } from '../stream/header-map.ts';
import { RESPONSE_FLAG_NAMES } from '../stream/response-flags.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { metadataValue } from '../matching/metadata-value.ts';
import { compileValueMatcher } from '../matching/value-matcher.ts';
import { compileHeaderMatcher } from '../../shared/matchers/header-matcher.ts';
import { anyGrpcStatusOf } from '../stream/grpc-status.ts';
import { isEnabled } from '../loop/runtime.ts';
import type { Runtime } from '../loop/runtime.ts';

export type LogPredicate = (info: StreamInfo) => boolean;

type FilterOf<Kind extends AccessLogFilter['kind']> = Extract<AccessLogFilter, { kind: Kind }>;

export function compileLogFilter(filter: AccessLogFilter, runtime: Runtime): LogPredicate {
  switch (filter.kind) {
    case 'status_code':
    case 'duration':
      return compileComparison(filter, runtime);
    case 'not_health_check':
      return (info) => !info.isHealthCheck;
    case 'traceable':
      return (info) => info.traceReason !== 'not_traceable';
    case 'runtime':
      return compileShare(filter, runtime);
    case 'and': {
      const all = filter.filters.map((one) => compileLogFilter(one, runtime));
      return (info) => all.every((predicate) => predicate(info));
    }
    case 'or': {
      const all = filter.filters.map((one) => compileLogFilter(one, runtime));
      return (info) => all.some((predicate) => predicate(info));
    }
    case 'header': {
      const matches = compileHeaderMatcher(filter.header);
      return (info) => matches(info.requestHeaders ?? NO_HEADERS);
    }
    case 'response_flag': {
      const wanted = flagsNamed(filter.flags);
      return (info) => (info.responseFlags & wanted) !== 0;
    }
    case 'cel':
      return compileCelCondition(filter.expression);
    case 'metadata':
      return compileMetadata(filter);
    case 'grpc_status':
      return (info) => filter.statuses.includes(anyGrpcStatusOf(info)) !== filter.exclude;
    case 'log_type':
      return ({ accessLogType }) => filter.types.includes(accessLogType) !== filter.exclude;
  }
}

/** As in Envoy, which does not look at the matcher's `invert` here. */
function compileMetadata({ matcher, whenMissing }: FilterOf<'metadata'>): LogPredicate {
  if (matcher === undefined) return () => whenMissing;
  const matches = compileValueMatcher(matcher.value);
  return (info) => {
    const value = metadataValue(info.dynamicMetadata, matcher.namespace, matcher.path);
    return value === undefined ? whenMissing : matches(value);
  };
}

const NO_HEADERS = new HeaderMap();

function compileComparison(
  { kind, op, value, runtimeKey }: FilterOf<'status_code' | 'duration'>,
  runtime: Runtime,
): LogPredicate {
  const compare = COMPARISONS[op];
  const bound = () =>
    runtimeKey === undefined ? value : readInteger(runtime.snapshot, runtimeKey, value);
  if (kind === 'status_code') return (info) => compare(info.responseCode, bound());
  return (info) => info.endMs >= 0 && compare(Math.floor(info.endMs - info.startMs), bound());
}

const COMPARISONS: Readonly<Record<ComparisonOp, (value: number, bound: number) => boolean>> = {
  EQ: (value, bound) => value === bound,
  GE: (value, bound) => value >= bound,
  LE: (value, bound) => value <= bound,
  NE: (value, bound) => value !== bound,
};

/** Draws by the request id, so that every proxy on a request's way decides alike. */
function compileShare(
  { fraction, useIndependentRandomness }: FilterOf<'runtime'>,
  runtime: Runtime,
): LogPredicate {
  return (info) => {
    const drawn = useIndependentRandomness ? undefined : numberOfRequestId(info.requestId);
    return isEnabled(fraction, runtime, drawn ?? runtime.random());
  };
}

/** The bits of the flags with these short names; all of them when none is named. */
function flagsNamed(names: readonly string[]): number {
  return RESPONSE_FLAG_NAMES.filter(
    ([, short]) => names.length === 0 || names.includes(short),
  ).reduce((bits, [bit]) => bits | bit, 0);
}
