/** What an answer to a check over HTTP says of the host, whichever version it came over. */
import type { HttpProbe, StatusRange } from '../../shared/resources/health-check.ts';
import type { ProbeOutcome } from './probe.ts';

export const USER_AGENT = 'Envoy/HC';

const DEGRADED = 'x-envoy-degraded';
const IMMEDIATE_FAIL = 'x-envoy-immediate-health-check-fail';

interface AnswerHead {
  readonly status: number;
  has(header: string): boolean;
}

export function judgeHttp(resource: HttpProbe, answer: AnswerHead): ProbeOutcome {
  const { expectedStatuses, retriableStatuses } = resource;
  const isImmediate = answer.has(IMMEDIATE_FAIL);
  if (isWithin(answer.status, expectedStatuses) && !isImmediate) {
    return { kind: 'passed', isDegraded: answer.has(DEGRADED) };
  }
  const isRetriable = !isImmediate && isWithin(answer.status, retriableStatuses);
  return { kind: 'failed', isRetriable, isImmediate, status: answer.status };
}

function isWithin(status: number, ranges: readonly StatusRange[]): boolean {
  return ranges.some(({ from, to }) => status >= from && status < to);
}
