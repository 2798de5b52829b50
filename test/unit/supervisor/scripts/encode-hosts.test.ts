import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { encodeHosts } from '../../../../supervisor/scripts/discovery/encode-hosts.ts';

const host = { address: '10.0.0.1', port: 80 };
const LIMIT_BYTES = 32 * 1024 * 1024;

interface Assignment {
  readonly cluster_name: string;
  readonly endpoints: readonly {
    readonly priority: number;
    readonly locality: object;
    readonly lb_endpoints: readonly object[];
  }[];
}

function assignment(list: unknown): Assignment {
  const text = new TextDecoder().decode(encodeHosts('app', list));
  const { resources } = JSON.parse(text) as { readonly resources: readonly [Assignment] };
  return resources[0];
}

describe('a list of hosts that a module gave', () => {
  it('is an assignment with a place for each priority and locality', () => {
    const zone = { zone: 'a' };
    const { cluster_name: name, endpoints } = assignment([
      host,
      { ...host, port: 81, locality: zone, weight: 3, health: 'draining', hostname: 'h' },
      { ...host, port: 82, locality: zone },
      { address: '/run/app', priority: 1, metadata: { 'envoy.lb': { canary: true } } },
    ]);
    assert.equal(name, 'app');
    assert.deepEqual(
      endpoints.map(({ priority, locality, lb_endpoints: { length } }) => [
        priority,
        locality,
        length,
      ]),
      [
        [0, { region: '', zone: '', sub_zone: '' }, 1],
        [0, { region: '', zone: 'a', sub_zone: '' }, 2],
        [1, { region: '', zone: '', sub_zone: '' }, 1],
      ],
    );
    assert.deepEqual(endpoints[1]?.lb_endpoints[0], {
      endpoint: {
        address: { socket_address: { address: '10.0.0.1', port_value: 81 } },
        hostname: 'h',
      },
      health_status: 'DRAINING',
      load_balancing_weight: 3,
    });
    assert.deepEqual(endpoints[2]?.lb_endpoints[0], {
      endpoint: { address: { pipe: { path: '/run/app' } } },
      metadata: { filter_metadata: { 'envoy.lb': { canary: true } } },
    });
  });

  const WRONG: readonly (readonly [list: unknown, reason: RegExp])[] = [
    [undefined, /no array/],
    [{ length: 1, 0: host }, /no array/],
    [Array.from({ length: 50_001 }, () => host), /50001 hosts, and at most 50000/],
    [Array.from({ length: 1 }), /host 0 of its list is no object/],
    [[host, 'b'], /host 1 of its list is no object/],
    [[{ port: 80 }], /no address/],
    [[{ address: 'name.test', port: 80 }], /no IP address and no path/],
    [[{ address: '010.0.0.1', port: 80 }], /no IP address and no path/],
    [[{ address: '10.0.0.1' }], /the port undefined/],
    [[{ ...host, port: 65_536 }], /the port 65536/],
    [[{ ...host, port: Number.NaN }], /the port NaN/],
    [[{ ...host, weight: 0 }], /no weight/],
    [[{ ...host, weight: Infinity }], /no weight/],
    [[{ ...host, priority: 129 }], /no priority/],
    [[{ ...host, health: 'toString' }], /the health toString/],
    [[{ ...host, hostname: 1 }], /no hostname/],
    [[{ ...host, locality: null }], /no locality/],
    [[{ ...host, locality: { zone: 1 } }], /no locality/],
    [[{ ...host, metadata: 'a' }], /no metadata/],
    [[{ ...host, metadata: { a: { b: 1n } } }], /BigInt/],
    [[{ ...host, hostname: 'x'.repeat(LIMIT_BYTES) }], /too large/],
  ];
  for (const [list, reason] of WRONG) {
    it(`is refused: ${reason.source}`, () => assert.throws(() => encodeHosts('app', list), reason));
  }

  it('is JSON of its hosts, or refused, whatever it holds', () => {
    const any = fc.anything({ withBigInt: true, withNullPrototype: true, withSparseArray: true });
    const some = fc.record(
      {
        address: fc.oneof(fc.ipV4(), fc.ipV6(), fc.constant('/a'), any),
        port: fc.oneof(fc.integer({ min: 1, max: 65_535 }), any),
        weight: any,
        priority: any,
        locality: any,
        metadata: any,
      },
      { requiredKeys: ['address', 'port'] },
    );
    fc.assert(
      fc.property(fc.array(some), (list) => {
        let found: Assignment;
        try {
          found = assignment(list);
        } catch (error) {
          assert.ok(error instanceof Error);
          return;
        }
        const hosts = found.endpoints.flatMap(({ lb_endpoints: all }) => all);
        assert.equal(hosts.length, list.length);
      }),
      { numRuns: 200 },
    );
  });
});
