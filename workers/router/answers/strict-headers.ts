/**
 * `strict_check_headers`: requests whose `x-envoy-` headers say what cannot be read are refused
 * instead of being served as if these were not there.
 */
import { areGrpcConditions, areHttpConditions, splitList } from '../../routing/retry-conditions.ts';
import type { TerminalCallbacks } from '../../stream/filter.ts';
import type { HeaderMap } from '../../stream/header-map.ts';
import { ResponseFlag } from '../../stream/response-flags.ts';

interface WrongHeader {
  readonly name: string;
  readonly value: string;
}

type Check = (value: string) => boolean;

const BAD_REQUEST = 400;
/** What fits into 64 bits without a sign. */
const COUNT_MAX = 2n ** 64n - 1n;

const isCount: Check = (value) => /^\d{1,20}$/.test(value) && BigInt(value) <= COUNT_MAX;

/** Names without a check are never wrong. */
const CHECKS: ReadonlyMap<string, Check> = new Map([
  ['x-envoy-upstream-rq-timeout-ms', isCount],
  ['x-envoy-upstream-rq-per-try-timeout-ms', isCount],
  ['x-envoy-max-retries', isCount],
  ['x-envoy-retry-on', (value) => areHttpConditions(splitList(value))],
  ['x-envoy-retry-grpc-on', (value) => areGrpcConditions(splitList(value))],
]);

/** The first of `names` that is there and cannot be read. */
export function wrongHeader(names: readonly string[], headers: HeaderMap): WrongHeader | undefined {
  for (const name of names) {
    const value = headers.get(name);
    if (value !== undefined && CHECKS.get(name)?.(value) === false) return { name, value };
  }
  return undefined;
}

export function answerWrongHeader(
  callbacks: TerminalCallbacks,
  { name, value }: WrongHeader,
): void {
  callbacks.info.responseFlags |= ResponseFlag.invalidEnvoyRequestHeaders;
  callbacks.sendLocalReply({
    status: BAD_REQUEST,
    body: `invalid header '${name}' with value '${value}'`,
    details: `request_headers_failed_strict_check{${name}}`,
  });
}
