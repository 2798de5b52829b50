/** Hosts as the endpoint section of `/config_dump` shows them; compared with Envoy. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  endpointMessage,
  endpointMessageInSteps,
} from '../../../../supervisor/admin/views/endpoint-message.ts';
import { host } from '../../../support/parts/data-plane.ts';

const address = (port: number) => ({ socket_address: { address: '127.0.0.1', port_value: port } });

test('hosts are grouped by locality and priority', () => {
  const near = { region: 'r1', zone: 'z1', subZone: 's1', localityWeight: 3 };
  const far = { region: 'r2', zone: 'z2', priority: 1, health: 'unhealthy' } as const;
  const message = endpointMessage({
    cluster: 'rich',
    overprovisioningFactor: 140,
    hosts: [
      host(11, { hostname: 'one.test', weight: 5, ...near }),
      host(12, { metadata: { 'envoy.lb': { canary: true } }, ...near }),
      host(13, far),
    ],
  });
  assert.deepEqual(message, {
    cluster_name: 'rich',
    endpoints: [
      {
        locality: { region: 'r1', zone: 'z1', sub_zone: 's1' },
        lb_endpoints: [
          {
            endpoint: { address: address(11), health_check_config: {}, hostname: 'one.test' },
            health_status: 'HEALTHY',
            load_balancing_weight: 5,
          },
          {
            endpoint: { address: address(12), health_check_config: {} },
            health_status: 'HEALTHY',
            metadata: { filter_metadata: { 'envoy.lb': { canary: true } } },
            load_balancing_weight: 1,
          },
        ],
        load_balancing_weight: 3,
      },
      {
        locality: { region: 'r2', zone: 'z2' },
        lb_endpoints: [
          {
            endpoint: { address: address(13), health_check_config: {} },
            health_status: 'UNHEALTHY',
            load_balancing_weight: 1,
          },
        ],
        load_balancing_weight: 0,
        priority: 1,
      },
    ],
    policy: { overprovisioning_factor: 140 },
  });
});

test('an assignment has the name that was asked for, and hosts of names have metadata always', () => {
  const host = {
    id: '10.0.0.1:80',
    address: { kind: 'ip', address: '10.0.0.1', port: 80 },
    hostname: 'one',
    weight: 1,
    priority: 0,
    health: 'healthy',
    region: '',
    zone: '',
    subZone: '',
    canary: false,
  } as const;
  const hosts = { cluster: 'e', overprovisioningFactor: 140, hosts: [host] };
  const message = endpointMessage(hosts, { name: 'service', isByName: true });
  assert.equal(message['cluster_name'], 'service');
  assert.match(JSON.stringify(message), /"metadata":\{\}/);
});

test('a cluster without hosts has its policy alone', () => {
  assert.deepEqual(endpointMessage({ cluster: 'e', overprovisioningFactor: 140, hosts: [] }), {
    cluster_name: 'e',
    policy: { overprovisioning_factor: 140 },
  });
});

test('a share of requests to be dropped is shown in millionths', () => {
  const dropOverload = { category: 'throttle', share: 0.25 };
  const hosts = { cluster: 'e', overprovisioningFactor: 140, hosts: [], dropOverload };
  const drop = {
    category: 'throttle',
    drop_percentage: { numerator: 250_000, denominator: 'MILLION' },
  };
  assert.deepEqual(endpointMessage(hosts)['policy'], {
    drop_overloads: [drop],
    overprovisioning_factor: 140,
  });
});

test('the message of many hosts is made in short steps, and is the same', () => {
  const one = {
    id: '10.0.0.1:80',
    address: { kind: 'ip', address: '10.0.0.1', port: 80 },
    hostname: '',
    weight: 1,
    priority: 0,
    health: 'healthy',
    region: '',
    zone: '',
    subZone: '',
    canary: false,
  } as const;
  const hosts = Array.from({ length: 20_000 }, () => one);
  const many = { cluster: 'e', overprovisioningFactor: 140, hosts };
  const steps = endpointMessageInSteps(many);
  let count = 0;
  let step = steps.next();
  for (; step.done !== true; step = steps.next()) count += 1;
  assert.ok(count > 100, `${count} steps`);
  assert.deepEqual(step.value, endpointMessage(many));
});
