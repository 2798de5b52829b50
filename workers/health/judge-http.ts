/** What an answer to a check over HTTP says of the host, whichever version it came over. */
import { compileStringMatcher, type TextPredicate } from '../../shared/matchers/string-matcher.ts';
import type { HttpProbe, StatusRange } from '../../shared/resources/clusters/health-check.ts';
import { hasInOrder } from './payload-match.ts';
import type { ProbeOutcome } from './probe.ts';

export const USER_AGENT = 'Envoy/HC';

const DEGRADED = 'x-envoy-degraded';
const IMMEDIATE_FAIL = 'x-envoy-immediate-health-check-fail';
const SERVICE_NAME = 'x-envoy-upstream-healthchecked-cluster';

export interface HttpAnswer {
  readonly status: number;
  /** Undefined: there is no such header. */
  header(name: string): string | undefined;
  /** The beginning of the body, where the check looks at it. */
  readonly body: Buffer;
}

export class HttpJudge {
  readonly #resource: HttpProbe;
  readonly #receive: readonly Buffer[];
  readonly #isService: TextPredicate | undefined;
  readonly #mustVerify: () => boolean;

  /** `mustVerify`: whether the name of the service counts this time. */
  constructor(resource: HttpProbe, mustVerify: () => boolean) {
    this.#resource = resource;
    this.#receive = (resource.receive ?? []).map((digits) => Buffer.from(digits, 'hex'));
    const { serviceName } = resource;
    this.#isService = serviceName && compileStringMatcher(serviceName);
    this.#mustVerify = mustVerify;
  }

  /** How much of an answer's body is looked at. */
  get bodyBytesMax(): number {
    if (this.#receive.length === 0) return 0;
    return this.#resource.receiveBytesMax || Number.POSITIVE_INFINITY;
  }

  judge(answer: HttpAnswer): ProbeOutcome {
    const { expectedStatuses, retriableStatuses } = this.#resource;
    const { status } = answer;
    const isRetriable = isWithin(status, retriableStatuses);
    if (!isWithin(status, expectedStatuses)) {
      const isImmediate = answer.header(IMMEDIATE_FAIL) !== undefined;
      return { kind: 'failed', isRetriable, isImmediate, status };
    }
    if (!hasInOrder(answer.body, this.#receive)) {
      return { kind: 'failed', isRetriable, isImmediate: false, status };
    }
    const isService = this.#isService;
    if (
      isService !== undefined &&
      this.#mustVerify() &&
      !isService(answer.header(SERVICE_NAME) ?? '')
    ) {
      return { kind: 'failed', isRetriable: false, isImmediate: false, status };
    }
    return { kind: 'passed', isDegraded: answer.header(DEGRADED) !== undefined };
  }
}

function isWithin(status: number, ranges: readonly StatusRange[]): boolean {
  return ranges.some(({ from, to }) => status >= from && status < to);
}
