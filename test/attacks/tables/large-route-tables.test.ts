/**
 * Route tables, access rules and the like with a hundred thousand entries hold the loop for a
 * moment only.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeaderMap } from '../../../workers/stream/header-map.ts';
import { compileRbacRules } from '../../../workers/filters/common/rbac-engine.ts';
import { buildRouteTable } from '../../../workers/routing/route-table.ts';
import type { RouteTable } from '../../../workers/stream/route.ts';
import { attackRuns } from '../../support/attack.ts';
import {
  prefix,
  route,
  routeConfiguration,
  toCluster,
  virtualHost,
} from '../../support/parts/routes.ts';
import { streamInfo } from '../../support/parts/stream.ts';

const COUNT = attackRuns(100_000, 500_000);
const indices = Array.from({ length: COUNT }, (_, at) => at);
const ROUTE = route(prefix('/'), toCluster());

/** Counts who looks at a field, which compiling it begins with. */
function watched<Part extends object>(
  part: Part,
  field: keyof Part,
  looks: { count: number },
): Part {
  const value = part[field];
  return Object.defineProperty({ ...part }, field, {
    get: () => {
      looks.count += 1;
      return value;
    },
  });
}

function clusterOf(table: RouteTable, authority: string, path: string): unknown {
  const headers = new HeaderMap();
  headers.authority = authority;
  headers.path = path;
  headers.method = 'GET';
  const found = table.match(headers, streamInfo(headers));
  return found !== undefined && 'clusterName' in found ? found.clusterName : found;
}

describe('a table as large as configurations get', () => {
  for (const [kind, domain] of [
    ['exact domains', (at: number) => `h${at}.example`],
    ['wildcards', (at: number) => `*.h${at}.example`],
  ] as const) {
    it(`with virtual hosts of ${kind} compiles those that are asked`, () => {
      const looks = { count: 0 };
      const hosts = indices.map((at) =>
        watched(virtualHost([ROUTE], { name: `v${at}`, domains: [domain(at)] }), 'routes', looks),
      );
      const made = buildRouteTable(routeConfiguration(hosts));
      assert.equal(looks.count, 0);
      const last = domain(COUNT - 1).replace('*', 'a');
      assert.notEqual(clusterOf(made, last, '/x'), undefined);
      assert.equal(clusterOf(made, 'other.example', '/x'), undefined);
      assert.ok(looks.count > 0 && looks.count < 10);
    });
  }

  it('with routes compiles those that are asked', () => {
    const looks = { count: 0 };
    const routes = indices.map((at) =>
      watched(route(prefix(`/p${at}/`), toCluster()), 'action', looks),
    );
    const made = buildRouteTable(routeConfiguration([virtualHost(routes)]));
    assert.equal(looks.count, 0);
    assert.notEqual(clusterOf(made, 'a', `/p${COUNT - 1}/x`), undefined);
    assert.equal(clusterOf(made, 'a', '/other'), undefined);
    assert.ok(looks.count > 0 && looks.count < 10);
  });

  it('with addresses for access control is asked with one look', () => {
    const rules = indices.map((at) => ({
      kind: 'remote_ip' as const,
      address: `10.${at >> 16}.${(at >> 8) & 255}.${at & 255}`,
      prefixLength: 32,
    }));
    const policy = {
      name: 'p',
      permission: { kind: 'any' },
      principal: { kind: 'or', rules },
    } as const;
    const decide = compileRbacRules({ action: 'ALLOW', policies: [policy] });
    const headers = new HeaderMap();
    const info = streamInfo(headers);
    const address = { ...info.downstreamRemoteAddress, kind: 'ip' } as const;
    const begun = process.cpuUsage();
    for (let at = 0; at < 1000; at++) {
      info.downstreamRemoteAddress = { ...address, ip: at % 2 === 0 ? '10.0.0.9' : '11.0.0.9' };
      assert.equal(decide(headers, info).isAllowed, at % 2 === 0);
    }
    assert.ok(process.cpuUsage(begun).user < 500_000);
  });
});
