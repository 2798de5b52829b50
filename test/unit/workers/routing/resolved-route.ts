/** The route to a cluster that a request gets from a table made for it. */
import assert from 'node:assert/strict';
import { type HeaderChanges } from '../../../../shared/resources/routes/headers.ts';
import {
  type ClusterRouteAction,
  type PathMatch,
} from '../../../../shared/resources/routes/route.ts';
import { type HeaderMap } from '../../../../workers/stream/header-map.ts';
import { buildRouteTable } from '../../../../workers/routing/route-table.ts';
import { type ClusterRoute } from '../../../../workers/stream/route.ts';
import { NO_CHANGES } from '../../../../workers/warm-up/default-resources.ts';
import {
  prefix,
  route,
  routeConfiguration,
  toCluster,
  virtualHost,
} from '../../../support/parts/routes.ts';
import { streamInfo } from '../../../support/parts/stream.ts';

export interface Levels {
  readonly route?: HeaderChanges;
  readonly virtualHost?: HeaderChanges;
  readonly table?: HeaderChanges;
  readonly mostSpecificWins?: boolean;
}

export function resolve(
  action: Partial<ClusterRouteAction>,
  headers: HeaderMap,
  options: { match?: PathMatch; levels?: Levels; random?: number; caseSensitive?: boolean } = {},
): ClusterRoute {
  const { match = prefix('/'), levels = {}, random = 0, caseSensitive = true } = options;
  const table = buildRouteTable(
    routeConfiguration(
      [
        virtualHost(
          [
            route(match, toCluster(action), {
              match: { caseSensitive },
              requestHeaders: levels.route ?? NO_CHANGES,
              responseHeaders: levels.route ?? NO_CHANGES,
            }),
          ],
          {
            requestHeaders: levels.virtualHost ?? NO_CHANGES,
            responseHeaders: levels.virtualHost ?? NO_CHANGES,
            virtualClusters: [
              {
                name: 'vc',
                headers: [
                  {
                    name: ':path',
                    invert: false,
                    treatMissingAsEmpty: false,
                    match: {
                      kind: 'string',
                      matcher: { kind: 'prefix', value: '/v', ignoreCase: false },
                    },
                  },
                ],
              },
            ],
          },
        ),
      ],
      {
        requestHeaders: levels.table ?? NO_CHANGES,
        responseHeaders: levels.table ?? NO_CHANGES,
        mostSpecificHeaderMutationsWins: levels.mostSpecificWins ?? false,
      },
    ),
    { random: () => random, snapshot: new Map() },
  );
  const found = table.match(headers, streamInfo(headers));
  assert.ok(found?.kind === 'cluster');
  return found;
}

export function lines(headers: HeaderMap): string[] {
  const shown: string[] = [];
  headers.forEach((name, value) => shown.push(`${name}: ${value}`));
  return shown;
}
