import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeaderMap } from '../../../workers/http/header-map.ts';
import { WorkerStatStore } from '../../../workers/stats/worker-stat-store.ts';
import { UpstreamHost } from '../../../workers/upstream/host.ts';
import { updateBalancer } from '../../../workers/upstream/load-balancer.ts';
import { readLoadReport } from '../../../workers/upstream/load-report.ts';
import { makeBalancer } from '../../../workers/upstream/make-balancer.ts';
import { ReportedLoad } from '../../../workers/upstream/reported-weights.ts';
import { balancerContext } from '../../support/balancers.ts';
import { cluster, host } from '../../support/data-plane.ts';

const OPTIONS = { blackoutMs: 1000, expirationMs: 5000, updateMs: 100, errorPenalty: 1 };

function headersWith(value: string, name = 'endpoint-load-metrics'): HeaderMap {
  const headers = new HeaderMap();
  headers.add(name, value);
  return headers;
}

/** cpu_utilization 0.5, rps_fractional 40, eps 4, and a map that nobody looks at. */
function binaryReport(): string {
  const double = (field: number, value: number): Buffer => {
    const bytes = Buffer.alloc(9);
    bytes[0] = (field << 3) | 1;
    bytes.writeDoubleLE(value, 1);
    return bytes;
  };
  const map = Buffer.from([(4 << 3) | 2, 3, 1, 2, 3]);
  return Buffer.concat([double(1, 0.5), map, double(6, 40), double(7, 4)]).toString('base64');
}

describe('a report of load', () => {
  const report = { requests: 40, errors: 4, utilization: 0.5 };
  const forms = [
    ['text', headersWith('TEXT cpu_utilization=0.5, rps_fractional=40,eps=4')],
    ['JSON', headersWith('JSON {"cpuUtilization":0.5,"rps_fractional":40,"eps":4}')],
    ['base64 behind BIN', headersWith(`BIN ${binaryReport()}`)],
    ['the binary header', headersWith(binaryReport(), 'endpoint-load-metrics-bin')],
  ] as const;
  for (const [title, headers] of forms) {
    it(`is read from ${title}`, () => assert.deepEqual(readLoadReport(headers), report));
  }

  it("goes by the application's own utilization where it is there", () => {
    const text = 'TEXT cpu_utilization=0.5,application_utilization=1.5,rps_fractional=3';
    assert.equal(readLoadReport(headersWith(text))?.utilization, 1.5);
  });

  for (const text of ['', 'TEXT cpu_utilization', 'TEXT cpu_utilization=x', 'JSON {', 'XML 1']) {
    it(`is none when it reads '${text}'`, () => {
      assert.equal(readLoadReport(headersWith(text)), undefined);
    });
  }
});

describe('weights by reports of load', () => {
  it('are requests by utilization, less for errors', () => {
    const load = new ReportedLoad({ ...OPTIONS, blackoutMs: 0 });
    load.note({ requests: 40, errors: 0, utilization: 0.5 }, 0);
    assert.equal(load.weightAt(0), 80);
    load.note({ requests: 40, errors: 20, utilization: 0.5 }, 1);
    assert.equal(load.weightAt(1), 40);
    load.note({ requests: 0, errors: 0, utilization: 0.5 }, 2);
    assert.equal(load.weightAt(2), 40);
  });

  it('count after a while of reports and until they are old', () => {
    const load = new ReportedLoad(OPTIONS);
    const report = { requests: 10, errors: 0, utilization: 1 };
    load.note(report, 0);
    assert.equal(load.weightAt(999), undefined);
    assert.equal(load.weightAt(1000), 10);
    load.note(report, 4000);
    assert.equal(load.weightAt(8999), 10);
    assert.equal(load.weightAt(9000), undefined);
    load.note(report, 9000);
    assert.equal(load.weightAt(9500), undefined);
    assert.equal(load.weightAt(10_000), 10);
  });

  it('share the requests among hosts; one without a report gets the median', () => {
    let nowMs = 0;
    const lbPolicy = {
      kind: 'ROUND_ROBIN',
      healthyPanicThreshold: 50,
      loadReports: OPTIONS,
    } as const;
    const context = balancerContext({ nowMs: () => nowMs });
    const balancer = makeBalancer(cluster('c', { lbPolicy }), context);
    const stats = new WorkerStatStore();
    const hosts = [1, 2, 3, 4].map((port) => new UpstreamHost(host(port), 'c', stats));
    for (const each of hosts) each.reportedLoad = new ReportedLoad(OPTIONS);
    updateBalancer(balancer, hosts, 140);
    const share = (): readonly number[] => {
      const counts = new Map<UpstreamHost | undefined, number>();
      const asked = {
        requestHeaders: new HeaderMap(),
        computeHash: () => undefined,
        maxHostDraws: 0,
        refusesHost: () => false,
      };
      for (let pick = 0; pick < 600; pick++) {
        const chosen = balancer.choose(asked, 0);
        counts.set(chosen, (counts.get(chosen) ?? 0) + 1);
      }
      return hosts.map((each) => counts.get(each) ?? 0);
    };
    assert.deepEqual(share(), [150, 150, 150, 150]);
    for (const [at, requests] of [10, 20, 30].entries()) {
      hosts[at]?.reportedLoad?.note({ requests, errors: 0, utilization: 1 }, 0);
    }
    nowMs = 1000;
    const shares = share();
    for (const [at, wanted] of [75, 150, 225, 150].entries()) {
      assert.ok(Math.abs((shares[at] ?? 0) - wanted) <= 2, `${shares.join(', ')}`);
    }
  });
});
