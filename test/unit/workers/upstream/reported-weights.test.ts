import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';
import { ActiveRequests } from '../../../../workers/upstream/hosts/active-requests.ts';
import { UpstreamHost } from '../../../../workers/upstream/hosts/host.ts';
import { updateBalancer } from '../../../../workers/upstream/balancing/load-balancer.ts';
import {
  readLoadReport,
  utilizationOf,
} from '../../../../workers/upstream/load-reports/load-report.ts';
import { makeBalancer } from '../../../../workers/upstream/balancing/lb-policies.ts';
import { ReportedLoad } from '../../../../workers/upstream/balancing/reported-weights.ts';
import { balancerContext } from '../../../support/parts/balancers.ts';
import { host } from '../../../support/parts/data-plane.ts';

const OPTIONS = {
  blackoutMs: 1000,
  expirationMs: 5000,
  updateMs: 100,
  errorPenalty: 1,
  metricNames: [],
};

function report(requests: number, utilization: number, errors = 0): ReadonlyMap<string, number> {
  return new Map([
    ['rps_fractional', requests],
    ['cpu_utilization', utilization],
    ['eps', errors],
  ]);
}

const NO_REQUEST = {
  requestHeaders: new HeaderMap(),
  computeHash: () => undefined,
  maxHostDraws: 0,
  refusesHost: () => false,
};
/** Below it lie 99.99 % of all values with four degrees of freedom. */
const CHI_SQUARED_LIMIT_4 = 23.5;

function headersWith(value: string, name = 'endpoint-load-metrics'): HeaderMap {
  const headers = new HeaderMap();
  headers.add(name, value);
  return headers;
}

/** cpu_utilization 0.5, rps_fractional 40, eps 4, and named_metrics.a 0.25. */
function binaryReport(): string {
  const double = (field: number, value: number): Buffer => {
    const bytes = Buffer.alloc(9);
    bytes[0] = (field << 3) | 1;
    bytes.writeDoubleLE(value, 1);
    return bytes;
  };
  const entry = Buffer.concat([Buffer.from([(1 << 3) | 2, 1, 0x61]), double(2, 0.25)]);
  const map = Buffer.concat([Buffer.from([(8 << 3) | 2, entry.length]), entry]);
  return Buffer.concat([double(1, 0.5), map, double(6, 40), double(7, 4)]).toString('base64');
}

describe('a report of load', () => {
  const figures = new Map([...report(40, 0.5, 4), ['named_metrics.a', 0.25]]);
  const text = 'cpu_utilization=0.5, rps_fractional=40,eps:4,named_metrics.a=0.25,';
  const json = '{"cpuUtilization":0.5,"rps_fractional":"40","eps":4,"named_metrics":{"a":0.25}}';
  const forms = [
    ['text', headersWith(`TEXT ${text}`)],
    ['JSON', headersWith(`JSON ${json}`)],
    ['base64 behind BIN', headersWith(`BIN ${binaryReport()}`)],
    ['the binary header', headersWith(binaryReport(), 'endpoint-load-metrics-bin')],
  ] as const;
  for (const [title, headers] of forms) {
    it(`is read from ${title}`, () => assert.deepEqual(readLoadReport(headers), figures));
  }

  // What Envoy makes of each was observed.
  const unreadable = [
    '',
    'TEXT cpu_utilization',
    'TEXT cpu_utilization=x',
    'TEXT cpu_utilization=nan',
    'TEXT cpu_utilization =1',
    'TEXT eps=-1',
    'TEXT eps=1,eps=1',
    'TEXT other=1',
    'TEXT named_metrics.=1',
    'TEXT request_cost.a=1',
    'text eps=1',
    'eps=1',
    'JSON {',
    'JSON {"other":1}',
    'XML 1',
  ];
  for (const each of unreadable) {
    it(`is none when it reads '${each}'`, () => {
      assert.equal(readLoadReport(headersWith(each)), undefined);
    });
  }

  it('says how much is in use by the figures that are asked for, the application, the processor', () => {
    const full = new Map([
      ['cpu_utilization', 0.5],
      ['application_utilization', 1.5],
      ['named_metrics.a', 0.25],
      ['utilization.b', 0.75],
    ]);
    assert.equal(
      utilizationOf(full, ['named_metrics.a', 'utilization.b', 'named_metrics.c']),
      0.75,
    );
    assert.equal(utilizationOf(full, ['named_metrics.c']), 1.5);
    assert.equal(utilizationOf(figures, []), 0.5);
  });
});

describe('weights by reports of load', () => {
  it('are requests by utilization, less for errors', () => {
    const load = new ReportedLoad({ ...OPTIONS, blackoutMs: 0 });
    load.note(report(40, 0.5), 0);
    assert.equal(load.weightAt(0), 80);
    load.note(report(40, 0.5, 20), 1);
    assert.equal(load.weightAt(1), 40);
    load.note(report(0, 0.5), 2);
    assert.equal(load.weightAt(2), 40);
  });

  it('count after a while of reports and until they are old', () => {
    const load = new ReportedLoad(OPTIONS);
    load.note(report(10, 1), 0);
    assert.equal(load.weightAt(999), undefined);
    assert.equal(load.weightAt(1000), 10);
    load.note(report(10, 1), 4000);
    assert.equal(load.weightAt(8999), 10);
    assert.equal(load.weightAt(9000), undefined);
    load.note(report(10, 1), 9000);
    assert.equal(load.weightAt(9500), undefined);
    assert.equal(load.weightAt(10_000), 10);
  });

  it('share the requests among hosts; one without a report gets the median', () => {
    let nowMs = 0;
    const lbPolicy = {
      kind: 'client_side_weighted_round_robin',
      loadReports: OPTIONS,
    } as const;
    const context = balancerContext({ nowMs: () => nowMs });
    const balancer = makeBalancer(lbPolicy, context);
    const stats = new WorkerStatStore();
    const active = new ActiveRequests();
    const hosts = [1, 2, 3, 4].map((port) => new UpstreamHost(host(port), 'c', stats, active));
    for (const each of hosts) each.reportedLoad = new ReportedLoad(OPTIONS);
    updateBalancer(balancer, hosts, 140);
    const share = (): readonly number[] => {
      const counts = new Map<UpstreamHost | undefined, number>();
      for (let pick = 0; pick < 600; pick++) {
        const chosen = balancer.choose(NO_REQUEST, 0);
        counts.set(chosen, (counts.get(chosen) ?? 0) + 1);
      }
      return hosts.map((each) => counts.get(each) ?? 0);
    };
    assert.deepEqual(share(), [150, 150, 150, 150]);
    for (const [at, requests] of [10, 20, 30].entries()) {
      hosts[at]?.reportedLoad?.note(report(requests, 1), 0);
    }
    nowMs = 1000;
    const shares = share();
    for (const [at, wanted] of [75, 150, 225, 150].entries()) {
      assert.ok(Math.abs((shares[at] ?? 0) - wanted) <= 2, `${shares.join(', ')}`);
    }
  });

  it('share the requests of each locality, which get theirs by their own weights', () => {
    const options = { ...OPTIONS, blackoutMs: 0 };
    const lbPolicy = {
      kind: 'client_side_weighted_round_robin',
      loadReports: options,
      localities: { kind: 'weighted' },
    } as const;
    const balancer = makeBalancer(lbPolicy, balancerContext());
    const stats = new WorkerStatStore();
    const active = new ActiveRequests();
    const reports = [undefined, report(10, 1), report(30, 1), report(20, 1), report(40, 1)];
    const hosts = reports.map((each, at) => {
      const place = at < 3 ? { zone: 'a', localityWeight: 3 } : { zone: 'b', localityWeight: 1 };
      const made = new UpstreamHost(host(at + 1, place), 'c', stats, active);
      made.reportedLoad = new ReportedLoad(options);
      if (each !== undefined) made.reportedLoad.note(each, 0);
      return made;
    });
    updateBalancer(balancer, hosts, 140);
    const picks = 100_000;
    const counts = new Map<UpstreamHost | undefined, number>();
    for (let pick = 0; pick < picks; pick++) {
      const chosen = balancer.choose(NO_REQUEST, 0);
      counts.set(chosen, (counts.get(chosen) ?? 0) + 1);
    }
    // The first host has the median of all: 25.
    const shares = [25, 10, 30].map((weight) => (0.75 * weight) / 65).concat([0.25 / 3, 0.5 / 3]);
    const chiSquared = shares.reduce((sum, share, at) => {
      const expected = picks * share;
      return sum + ((counts.get(hosts[at]) ?? 0) - expected) ** 2 / expected;
    }, 0);
    assert.ok(chiSquared < CHI_SQUARED_LIMIT_4, `${chiSquared}`);
  });
});
