/**
 * Conditions of the admin's access log: which requests get a line. The same conditions as those of
 * the workers' logs, over what is known of a request to the admin.
 */
import { assertNever } from '../../../shared/process/assert-never.ts';
import { compileHeaderMatcher } from '../../../shared/matchers/header-matcher.ts';
import type { AccessLogFilter, ComparisonOp } from '../../../shared/resources/access-log.ts';
import type { RuntimeSnapshot } from '../../../shared/resources/runtime.ts';
import { isDrawn, numberOfRequestId } from '../../../shared/runtime/draw.ts';
import { readInteger } from '../../../shared/runtime/read-runtime.ts';
import { grpcStatusOfHttp } from '../../../shared/substitution/grpc-status-of-http.ts';
import { headerOf } from './admin-log-format.ts';
import type { AdminLogEntry } from './admin-log-format.ts';

type Predicate = (entry: AdminLogEntry) => boolean;

type FilterOf<Kind extends AccessLogFilter['kind']> = Extract<AccessLogFilter, { kind: Kind }>;

/** Lines are written when the request has ended. */
const LOG_TYPE = 'DownstreamEnd';

const RANDOM_LIMIT = 0x1_0000_0000;

/** `runtime` gives the values in force when a request has been answered. */
export function compileAdminLogFilter(
  filter: AccessLogFilter,
  runtime: () => RuntimeSnapshot,
): Predicate {
  switch (filter.kind) {
    case 'status_code':
    case 'duration':
      return compileComparison(filter, runtime);
    case 'not_health_check':
      return () => true;
    case 'traceable':
      // The admin traces nothing.
      return () => false;
    case 'response_flag':
      return ({ flags }) =>
        filter.flags.length === 0 ? flags !== '-' : filter.flags.includes(flags);
    case 'and':
    case 'or':
      return compileCombined(filter, runtime);
    case 'runtime':
      return compileShare(filter, runtime);
    case 'header':
      return compileHeader(filter);
    case 'cel':
      // Expressions run in workers: the configuration is refused (resources/bootstrap/admin.ts).
      return () => false;
    case 'metadata':
      // The admin gives its requests none.
      return () => filter.whenMissing;
    case 'grpc_status':
      return ({ status }) => filter.statuses.includes(grpcStatusOfHttp(status)) !== filter.exclude;
    case 'log_type':
      return () => filter.types.includes(LOG_TYPE) !== filter.exclude;
    default:
      return assertNever(filter);
  }
}

function compileComparison(
  { kind, op, value, runtimeKey }: FilterOf<'status_code' | 'duration'>,
  runtime: () => RuntimeSnapshot,
): Predicate {
  const bound = () =>
    runtimeKey === undefined ? value : readInteger(runtime(), runtimeKey, value);
  return kind === 'status_code'
    ? ({ status }) => compares(op, status, bound())
    : ({ durationMs }) => compares(op, durationMs, bound());
}

function compileCombined(
  { kind, filters }: FilterOf<'and' | 'or'>,
  runtime: () => RuntimeSnapshot,
): Predicate {
  const parts = filters.map((filter) => compileAdminLogFilter(filter, runtime));
  return kind === 'and'
    ? (entry) => parts.every((part) => part(entry))
    : (entry) => parts.some((part) => part(entry));
}

function compileShare(
  { fraction, useIndependentRandomness }: FilterOf<'runtime'>,
  runtime: () => RuntimeSnapshot,
): Predicate {
  return (entry) => {
    const id = useIndependentRandomness ? undefined : headerOf(entry, 'x-request-id');
    const drawn = id === undefined ? undefined : numberOfRequestId(id);
    return isDrawn(fraction, runtime(), drawn ?? Math.floor(Math.random() * RANDOM_LIMIT));
  };
}

/** Node has joined the values of a header that came several times. */
function compileHeader({ header }: FilterOf<'header'>): Predicate {
  const matches = compileHeaderMatcher(header);
  return (entry) => matches({ entries: [], get: (name) => headerOf(entry, name) });
}

function compares(op: ComparisonOp, left: number, right: number): boolean {
  switch (op) {
    case 'EQ':
      return left === right;
    case 'NE':
      return left !== right;
    case 'GE':
      return left >= right;
    case 'LE':
      return left <= right;
    default:
      return assertNever(op);
  }
}
