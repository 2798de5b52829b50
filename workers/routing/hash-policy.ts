/** Hashes what a route's hash policies look at, for clusters that choose hosts by a hash. */
import type { RequestHash } from '../stream/route.ts';
import { makeRegexRunner } from '../../shared/regex/run-regex.ts';
import type { HashPolicy } from '../../shared/resources/routes/route.ts';
import { cookieValue, setCookie } from '../stream/cookies.ts';
import { queryOf, queryValue } from '../stream/query.ts';
import { hashedFilterStateOf } from '../stream/stream-info.ts';
import { type Hash64, xxHash64, xxHash64OfAll } from '../hash/xxhash64.ts';

/**
 * All policies in order, up to the first terminal one with a hash; undefined when there are none.
 */
export function compileHashPolicies(policies: readonly HashPolicy[]): RequestHash | undefined {
  if (policies.length === 0) return undefined;
  const compiled = policies.map((policy) => ({ hash: compileOne(policy), ...policy }));
  return (headers, info, addCookie) => {
    let sum: Hash64 | undefined;
    for (const { hash, terminal } of compiled) {
      const next = hash(headers, info, addCookie);
      if (next !== undefined) sum = sum === undefined ? next : combine(sum, next);
      if (terminal && sum !== undefined) break;
    }
    return sum;
  };
}

/** The earlier hash moves round by a bit, so that equal ones do not cancel each other. */
function combine({ high, low }: Hash64, next: Hash64): Hash64 {
  return {
    high: (((high << 1) | (low >>> 31)) ^ next.high) >>> 0,
    low: (((low << 1) | (high >>> 31)) ^ next.low) >>> 0,
  };
}

function compileOne(policy: HashPolicy): RequestHash {
  switch (policy.kind) {
    case 'header':
      return hashHeader(policy);
    case 'cookie':
      return hashCookie(policy);
    case 'source_ip':
      return (_, info) => {
        const { kind, ip } = info.downstreamRemoteAddress;
        return kind === 'ip' ? xxHash64(ip) : undefined;
      };
    case 'query_parameter':
      return (headers) => {
        const value = queryValue(queryOf(headers.path), policy.name);
        return value === undefined ? undefined : xxHash64(value);
      };
    case 'filter_state':
      return (_, info) => {
        const value = hashedFilterStateOf(info, policy.key);
        return value === undefined ? undefined : xxHash64(value);
      };
  }
}

function hashHeader(policy: Extract<HashPolicy, { kind: 'header' }>): RequestHash {
  const { name, regex, substitution = '' } = policy;
  const runner = regex === undefined ? undefined : makeRegexRunner(regex);
  const rewrite = (value: string): string => runner?.replaceAll(value, substitution) ?? value;
  return (headers) => {
    const first = headers.get(name);
    if (first === undefined) return undefined;
    const values: string[] = [];
    headers.forEach((each, value) => {
      if (each === name) values.push(rewrite(value));
    });
    if (values.length <= 1) return xxHash64(values[0] ?? rewrite(first));
    return xxHash64OfAll(values.sort());
  };
}

function hashCookie(policy: Extract<HashPolicy, { kind: 'cookie' }>): RequestHash {
  const { name, ttlMs } = policy;
  return (headers, info, addCookie) => {
    const value = cookieValue(headers, name);
    if (value !== '') return xxHash64(value);
    if (ttlMs === undefined) return undefined;
    const { remoteAddress, localAddress } = info.connection;
    const { high, low } = xxHash64(remoteAddress.text + localAddress.text);
    const made = hex(high) + hex(low);
    addCookie(setCookie(policy, made));
    return xxHash64(made);
  };
}

function hex(half: number): string {
  return half.toString(16).padStart(8, '0');
}
