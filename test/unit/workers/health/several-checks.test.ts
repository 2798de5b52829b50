import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HEALTH_BITS } from '../../../../shared/resources/clusters/host-health.ts';
import type { HttpProbe } from '../../../../shared/resources/clusters/health-check.ts';
import { HostChecks } from '../../../../workers/health/host-checks.ts';
import { HttpJudge } from '../../../../workers/health/judge-http.ts';

const FAILED = HEALTH_BITS.failed_active_hc;
const DEGRADED = HEALTH_BITS.degraded_active_hc;

function checksOf(
  count: number,
  bits?: number,
): {
  readonly checks: HostChecks;
  readonly reported: number[];
  readonly find: (check: number, bits: number) => void;
  readonly noted: number[][];
  readonly healthy: number[];
} {
  const reported: number[] = [];
  const reports: ((bits: number) => void)[] = [];
  const noted: number[][] = Array.from({ length: count }, () => []);
  const healthy = Array.from({ length: count }, () => 0);
  const isHealthy = (each: number | undefined): number =>
    each !== undefined && (each & FAILED) === 0 ? 1 : 0;
  const checks = new HostChecks({
    sessions: noted.map((list, check) => (report: (bits: number) => void) => {
      reports[check] = report;
      return { noteBits: (each: number) => void list.push(each), close: () => undefined };
    }),
    bits,
    report: (each) => void reported.push(each),
    changed: (check, before, now) => {
      healthy[check] = (healthy[check] ?? 0) + isHealthy(now) - isHealthy(before);
    },
  });
  return { checks, reported, find: (check, each) => reports[check]?.(each), noted, healthy };
}

describe('several checks of one host', () => {
  it('say nothing before each has a result, and that it is well when all find so', () => {
    const { find, reported } = checksOf(2);
    find(0, 0);
    assert.deepEqual(reported, []);
    find(1, FAILED);
    find(1, 0);
    find(0, DEGRADED);
    find(1, FAILED);
    assert.deepEqual(reported, [FAILED, 0, DEGRADED, DEGRADED | FAILED]);
  });

  it('go on from what another worker found', () => {
    const { find, reported } = checksOf(2, FAILED);
    find(0, 0);
    assert.deepEqual(reported, [FAILED]);
    find(1, 0);
    assert.deepEqual(reported, [FAILED, 0]);
  });

  it('are not told what one of them found, but are told what is known from elsewhere', () => {
    const { checks, find, noted } = checksOf(2);
    find(0, 0);
    find(1, FAILED);
    checks.noteBits(FAILED | HEALTH_BITS.failed_outlier_check);
    assert.deepEqual(noted, [
      [HEALTH_BITS.failed_outlier_check],
      [FAILED | HEALTH_BITS.failed_outlier_check],
    ]);
    find(1, 0);
    checks.noteBits(FAILED);
    assert.deepEqual(
      noted.map((list) => list.at(-1)),
      [FAILED, FAILED],
    );
  });

  it('count for the figures of each until they end', () => {
    const { checks, find, healthy } = checksOf(2);
    find(0, 0);
    find(1, FAILED);
    assert.deepEqual(healthy, [1, 0]);
    find(1, 0);
    assert.deepEqual(healthy, [1, 1]);
    checks.close();
    assert.deepEqual(healthy, [0, 0]);
  });
});

describe('an answer to a check', () => {
  const probe: HttpProbe = {
    kind: 'http',
    isHttp2: false,
    path: '/',
    method: 'GET',
    headers: { add: [], remove: [] },
    expectedStatuses: [{ from: 200, to: 201 }],
    retriableStatuses: [{ from: 503, to: 504 }],
    receiveBytesMax: 8,
  };
  const judged = (
    changes: Partial<HttpProbe>,
    status = 200,
    headers: Readonly<Record<string, string>> = {},
    verifies = true,
  ): ReturnType<HttpJudge['judge']> =>
    new HttpJudge({ ...probe, ...changes }, () => verifies).judge({
      status,
      header: (name) => headers[name],
      body: Buffer.from('one two'),
    });
  const hex = (text: string): string => Buffer.from(text).toString('hex');

  it('takes a host out at once only when it fails the check, too', () => {
    const fail = { 'x-envoy-immediate-health-check-fail': 'true' };
    assert.deepEqual(judged({}, 200, fail), { kind: 'passed', isDegraded: false });
    assert.deepEqual(judged({}, 503, fail), {
      kind: 'failed',
      isRetriable: true,
      isImmediate: true,
      status: 503,
    });
  });

  it('has to hold what is expected of its body, in order', () => {
    assert.equal(judged({ receive: [hex('one'), hex('two')] }).kind, 'passed');
    assert.equal(judged({ receive: [hex('two'), hex('one')] }).kind, 'failed');
    assert.equal(new HttpJudge({ ...probe, receive: [hex('x')] }, () => true).bodyBytesMax, 8);
    assert.equal(new HttpJudge(probe, () => true).bodyBytesMax, 0);
  });

  it('has to name the service, while that is verified', () => {
    const serviceName = { kind: 'prefix', value: 'shop', ignoreCase: false } as const;
    const name = 'x-envoy-upstream-healthchecked-cluster';
    assert.equal(judged({ serviceName }, 200, { [name]: 'shop-1' }).kind, 'passed');
    assert.equal(judged({ serviceName }, 200, { [name]: 'till' }).kind, 'failed');
    assert.equal(judged({ serviceName }).kind, 'failed');
    assert.equal(judged({ serviceName }, 200, {}, false).kind, 'passed');
  });
});
