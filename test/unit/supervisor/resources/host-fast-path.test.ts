import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ClusterLoadAssignment } from '../../../../shared/api/generated/envoy/config/endpoint/v3/endpoint.ts';
import type { LbEndpoint } from '../../../../shared/api/generated/envoy/config/endpoint/v3/endpoint_components.ts';
import type { HostResource } from '../../../../shared/resources/clusters/cluster.ts';
import { resolveLoadAssignment } from '../../../../supervisor/resources/clusters/load-assignment.ts';
import { usualHost } from '../../../../supervisor/resources/clusters/host-fast-path.ts';
import { Scope } from '../../../../supervisor/resources/scope.ts';

const optional = { requiredKeys: [] };

const endpoint = fc.record(
  {
    load_balancing_weight: fc.integer({ min: 1, max: 128 }),
    endpoint: fc.record(
      {
        hostname: fc.constantFrom('', 'a.example'),
        address: fc.record(
          {
            socket_address: fc.record(
              {
                address: fc.oneof(fc.ipV4(), fc.constantFrom('', '::1', '1.2.3', '01.2.3.4')),
                port_value: fc.nat(65_535),
                protocol: fc.constantFrom('TCP', 'UDP'),
              },
              optional,
            ),
            pipe: fc.constant({ path: '/a' }),
          },
          optional,
        ),
        health_check_config: fc.constant({ port_value: 9 }),
      },
      optional,
    ),
    metadata: fc.constant({ filter_metadata: { 'envoy.lb': { canary: true } } }),
  },
  optional,
);

const locality = fc.record(
  {
    priority: fc.nat(2),
    load_balancing_weight: fc.integer({ min: 1, max: 3 }),
    locality: fc.constant({ region: 'r', zone: 'z' }),
  },
  optional,
);

interface Resolved {
  readonly hosts: readonly HostResource[];
  readonly problems: readonly string[];
}

function resolve(of: object, lb_endpoint: object): Resolved {
  const problems: string[] = [];
  const report = ({ message }: { readonly message: string }): void => void problems.push(message);
  const scope = new Scope({ problems: { report }, maxRegexProgramSize: 100 });
  const message = { cluster_name: 'c', endpoints: [{ ...of, lb_endpoints: [lb_endpoint] }] };
  const { hosts } = resolveLoadAssignment('c', message as ClusterLoadAssignment, scope);
  return { hosts, problems };
}

describe('a usual host', () => {
  it('is what the long way makes of it', () => {
    fc.assert(
      fc.property(locality, endpoint, (of, given) => {
        const short = resolve(of, given);
        // What says nothing is for the long way, too.
        const long = resolve(of, { ...given, health_status: 'HEALTHY' });
        assert.deepEqual(short, long);
        assert.deepEqual(short.hosts.map(fieldsOf), long.hosts.map(fieldsOf));
      }),
      { numRuns: 500 },
    );
  });

  it('has an address, a port and at most a name and a weight', () => {
    const of = { priority: 0, region: '', zone: '', subZone: '' };
    const at = (address: string): NonNullable<LbEndpoint['endpoint']> => ({
      address: { socket_address: { address, port_value: 80 } },
    });
    assert.equal(usualHost({ endpoint: at('1.2.3.4') }, of)?.id, '1.2.3.4:80');
    assert.equal(usualHost({ endpoint: at('1.2.3.4'), load_balancing_weight: 3 }, of)?.weight, 3);
    for (const message of [
      {},
      { endpoint: at('::1') },
      { endpoint: at('1.2.3.4'), health_status: 'HEALTHY' },
      { endpoint: { ...at('1.2.3.4'), health_check_config: {} } },
    ] as const) {
      assert.equal(usualHost(message, of), undefined);
    }
  });
});

function fieldsOf(host: HostResource): readonly string[] {
  return Object.keys(host);
}
