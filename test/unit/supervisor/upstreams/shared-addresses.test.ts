import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { HostResource } from '../../../../shared/resources/clusters/cluster.ts';
import { addressOf } from '../../../../shared/addresses/host-address.ts';
import type { HostSink } from '../../../../supervisor/upstreams/sources/host-source.ts';
import { StrictDnsSource } from '../../../../supervisor/upstreams/sources/strict-dns-source.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import type { ClusterLoadAssignment } from '../../../../shared/api/generated/envoy/config/endpoint/v3/endpoint.ts';
import {
  resolveLoadAssignment,
  resolveStaticHosts,
} from '../../../../supervisor/resources/clusters/load-assignment.ts';
import { Scope } from '../../../../supervisor/resources/scope.ts';

const PORT = 8080;
const REFRESH_MS = 1_000;

describe('an address that names of a STRICT_DNS cluster share', () => {
  it('is a host of each of them, with what the name says of it', async () => {
    const names = new Names({ a: ['10.0.0.1', '10.0.0.2'], b: ['10.0.0.1'] });
    await names.refresh();
    assert.deepEqual(names.shown(), ['10.0.0.1:8080 a', '10.0.0.2:8080 a', '10.0.0.1:8080 b']);
    assert.equal(new Set(names.hosts.map(({ id }) => id)).size, 3);
  });

  it('stays the same host of one name when the other name leaves it and comes back', async () => {
    const names = new Names({ a: ['10.0.0.1'], b: ['10.0.0.1'] });
    await names.refresh();
    const [, ofB] = names.hosts;
    names.addresses['a'] = ['10.0.0.2'];
    await names.refresh();
    assert.deepEqual(names.shown(), ['10.0.0.2:8080 a', '10.0.0.1:8080 b']);
    assert.equal(names.hosts[1], ofB);
    names.addresses['a'] = ['10.0.0.1'];
    await names.refresh();
    assert.deepEqual(names.shown(), ['10.0.0.1:8080 a', '10.0.0.1:8080 b']);
    assert.equal(names.hosts[1], ofB);
    assert.notEqual(names.hosts[0]?.id, ofB?.id);
  });

  it('is named like any other while one name alone has it', async () => {
    const names = new Names({ a: ['10.0.0.1'], b: ['10.0.0.2'] });
    await names.refresh();
    assert.deepEqual(
      names.hosts.map(({ id }) => id),
      ['10.0.0.1:8080', '10.0.0.2:8080'],
    );
  });
});

/** A cluster of the names `a` and `b`, and what they mean at present. */
class Names {
  addresses: Record<string, readonly string[]>;
  hosts: readonly HostResource[] = [];
  readonly #clock = new ManualClock();
  readonly #source: StrictDnsSource;
  #isStarted = false;

  constructor(addresses: Record<string, readonly string[]>) {
    this.addresses = addresses;
    const targets = Object.keys(addresses).map((name) => ({
      name,
      port: PORT,
      host: hostOf(name),
    }));
    const sink: HostSink = {
      setHosts: (hosts) => {
        this.hosts = hosts;
        return true;
      },
      *setHostsInSteps(hosts) {
        yield;
        return this.setHosts(hosts);
      },
      *confirmed() {
        yield;
      },
      count: () => undefined,
      setPolicy: () => undefined,
      setMaxHostWeight: () => undefined,
      initialized: () => undefined,
    };
    this.#source = new StrictDnsSource(targets, this.#environment(), sink);
  }

  /** Every name is asked once more. */
  async refresh(): Promise<void> {
    if (this.#isStarted) this.#clock.pass(REFRESH_MS);
    else this.#source.start();
    this.#isStarted = true;
    await new Promise((resolve) => setImmediate(resolve));
  }

  shown(): string[] {
    return this.hosts.map((host) => `${addressOf(host)} ${host.hostname}`);
  }

  #environment(): ConstructorParameters<typeof StrictDnsSource>[1] {
    return {
      settings: {
        family: 'V4_ONLY',
        refreshMs: REFRESH_MS,
        jitterMs: 0,
        respectsTtl: false,
        minRefreshMs: 0,
      },
      clock: this.#clock,
      random: () => 0,
      resolver: {
        resolve: (name) =>
          Promise.resolve({
            outcome: 'found',
            addresses: (this.addresses[name] ?? []).map((address) => ({ address, ttlS: 0 })),
          }),
      },
    };
  }
}

function hostOf(hostname: string): Omit<HostResource, 'id' | 'address'> {
  return {
    hostname,
    canary: false,
    weight: 1,
    priority: 0,
    health: 'healthy',
    region: '',
    zone: '',
    subZone: '',
  };
}

describe('an address that an assignment has twice', () => {
  const message = (weights: readonly number[]): ClusterLoadAssignment => ({
    endpoints: [
      {
        lb_endpoints: weights.map((weight) => ({
          endpoint: { address: { socket_address: { address: '10.0.0.1', port_value: 80 } } },
          load_balancing_weight: weight,
        })),
      },
    ],
  });
  const scope = new Scope({
    problems: { report: ({ message: text }) => assert.fail(text) },
    maxRegexProgramSize: 100,
  });

  it('is two hosts of a static cluster', () => {
    const { hosts } = resolveStaticHosts('c', message([2, 3]), scope);
    assert.deepEqual(
      hosts.map((host) => [addressOf(host), host.weight]),
      [
        ['10.0.0.1:80', 2],
        ['10.0.0.1:80', 3],
      ],
    );
    assert.equal(new Set(hosts.map(({ id }) => id)).size, 2);
  });

  it('is the host of the first entry where a control plane sends it', () => {
    const { hosts } = resolveLoadAssignment('c', message([2, 3]), scope);
    assert.deepEqual(
      hosts.map(({ weight }) => weight),
      [2],
    );
  });
});
