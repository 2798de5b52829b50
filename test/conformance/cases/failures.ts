import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import type { ConformanceCase } from '../case.ts';

const to = (cluster: string): object => ({
  match: { prefix: `/${cluster}` },
  route: { cluster },
});

export const failures: ConformanceCase = {
  name: 'failures',
  title: 'Upstreams that refuse or are not there',
  bootstrap: (upstreamPort) =>
    bootstrap({
      listeners: [httpListener([to('refused'), to('empty'), to('full'), to('good')])],
      clusters: [
        staticCluster('refused', [1]),
        { name: 'empty', connect_timeout: '1s' },
        staticCluster('full', [upstreamPort], {
          circuit_breakers: { thresholds: [{ max_requests: 0 }] },
        }),
        staticCluster('good', [upstreamPort]),
      ],
    }),
  questions: [
    { kind: 'http', label: 'a refused connection', listener: 'web', path: '/refused' },
    { kind: 'http', label: 'no host', listener: 'web', path: '/empty' },
    { kind: 'http', label: 'a full circuit breaker', listener: 'web', path: '/full' },
    { kind: 'http', label: 'a good one', listener: 'web', path: '/good' },
    {
      kind: 'admin',
      label: 'counted',
      path: '/stats?filter=^cluster.*(connect_fail|overflow|none_healthy|rq_503|rq_5xx|pending_failure_eject)$',
    },
  ],
};
