import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { RouteConfigurationResource } from '../../../../shared/resources/routes/route.ts';
import { VIRTUAL_CLUSTER } from '../../../../shared/stats/templates/cluster-features.ts';
import { StatStore } from '../../../../supervisor/stats/stat-store.ts';
import { RouteStore } from '../../../../workers/data-plane/route-store.ts';
import { holdViews } from '../../../../workers/router/route-views.ts';
import { buildRouteTable } from '../../../../workers/routing/route-table.ts';
import {
  prefix,
  route,
  routeConfiguration,
  toCluster,
  virtualHost,
} from '../../../support/parts/routes.ts';

function configuration(virtualCluster: string): RouteConfigurationResource {
  const routes = [route(prefix('/'), toCluster(), { statPrefix: 'rest' })];
  const virtualClusters = [{ name: virtualCluster, headers: [] }];
  return routeConfiguration([virtualHost(routes, { name: 'v', virtualClusters })]);
}

describe('virtual clusters and routes that count', () => {
  it('are there as long as their route configuration is in use', () => {
    const stats = new StatStore();
    const tables = new RouteStore();
    const put = (config: RouteConfigurationResource): void =>
      tables.put('r', buildRouteTable(config), holdViews(config, stats));
    const present = (): readonly string[] =>
      ['vcluster.one', 'vcluster.two', 'vcluster.other', 'route.rest'].filter(
        (name) => stats.find(VIRTUAL_CLUSTER, `vhost.v.${name}.`) !== undefined,
      );
    put(configuration('one'));
    assert.deepEqual(present(), ['vcluster.one', 'vcluster.other', 'route.rest']);
    put(configuration('two'));
    assert.deepEqual(present(), ['vcluster.two', 'vcluster.other', 'route.rest']);
    tables.remove('r');
    assert.deepEqual(present(), []);
  });

  it('are none where a virtual host has neither', () => {
    const stats = new StatStore();
    holdViews(routeConfiguration([virtualHost([route(prefix('/'), toCluster())])]), stats);
    assert.deepEqual([...stats.definitions()], []);
  });
});
