import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CLUSTER } from '../../../../shared/stats/templates/cluster.ts';
import { HeaderMap } from '../../../../workers/stream/header-map.ts';
import { WorkerStatStore } from '../../../../workers/stats/worker-stat-store.ts';
import { ActiveRequests } from '../../../../workers/upstream/hosts/active-requests.ts';
import { UpstreamHost } from '../../../../workers/upstream/hosts/host.ts';
import { RequestedHostBalancer } from '../../../../workers/upstream/named-hosts/requested-host-balancer.ts';
import { host } from '../../../support/parts/data-plane.ts';

const KEY = 'envoy.network.transport_socket.original_dst_address';

interface Asked {
  readonly filterState?: string;
  readonly metadata?: unknown;
  readonly header?: string;
}

/** The port that is chosen, and how many addresses could not be read. */
function choose({ filterState, metadata, header }: Asked, portOverride?: number) {
  const counted: number[] = [];
  const stats = new WorkerStatStore();
  const active = new ActiveRequests();
  const balancer = new RequestedHostBalancer({
    options: {
      header: 'x-dst',
      metadataKey: { namespace: 'n', path: ['a', 'b'] },
      cleanupIntervalMs: 1000,
      ...(portOverride === undefined ? {} : { portOverride }),
    },
    hostAt: (_, port) => new UpstreamHost(host(port), 'c', stats, active),
    count: (offset) => void counted.push(offset),
  });
  const requestHeaders = new HeaderMap();
  if (header !== undefined) requestHeaders.add('x-dst', header);
  const chosen = balancer.choose({
    requestHeaders,
    computeHash: () => undefined,
    filterState: (key) => (key === KEY ? filterState : undefined),
    dynamicMetadata: new Map([['n', { a: { b: metadata } }]]),
    originalDestination: { kind: 'ip', ip: '127.0.0.1', port: 9, text: '127.0.0.1:9' },
    maxHostDraws: 0,
    refusesHost: () => false,
  });
  assert.ok(counted.every((offset) => offset === CLUSTER.index.original_dst_host_invalid));
  return { port: chosen?.port, invalid: counted.length };
}

describe('the host that a request names by address', () => {
  const header = '127.0.0.1:3';
  const cases: readonly (readonly [string, Asked, number, number])[] = [
    [
      'filter state before all',
      { filterState: '127.0.0.1:1', metadata: '127.0.0.1:2', header },
      1,
      0,
    ],
    ['metadata before a header', { metadata: '127.0.0.1:2', header }, 2, 0],
    ['the first of a list in metadata', { metadata: ['127.0.0.1:4', '127.0.0.1:2'] }, 4, 0],
    ['the header where metadata has no text', { metadata: 7, header }, 3, 0],
    ['the header where metadata has no address', { metadata: 'web', header }, 3, 1],
    ['what the client meant where the header has no address', { header: 'web:80' }, 9, 1],
    ['what the client meant where nothing names one', {}, 9, 0],
  ];
  for (const [title, asked, port, invalid] of cases) {
    it(`is that of ${title}`, () => assert.deepEqual(choose(asked), { port, invalid }));
  }

  it('gets the port that the cluster sets', () => {
    assert.equal(choose({ metadata: '127.0.0.1:2' }, 80).port, 80);
  });
});
