/** Features of BackendTrafficPolicy, ClientTrafficPolicy and EnvoyExtensionPolicy. */
import { gunzipSync } from 'node:zlib';
import { fetchOnce } from '../../../test/support/peers/http-client.ts';
import { openRaw } from '../../../test/support/peers/raw-client.ts';
import { check } from '../../programs/trial.ts';
import { fetchBytes } from '../../../test/support/peers/fetch-bytes.ts';
import type { Feature, Probe } from './feature.ts';
import { backendRef, httpRoute, listenerPolicy, policy } from './objects.ts';

function trafficFeature(
  name: string,
  spec: object,
  probe: Feature['probe'],
  rule: object = {},
): Feature {
  return {
    name,
    objects: () => [httpRoute(name, rule), policy('BackendTrafficPolicy', name, spec)],
    probe,
  };
}

function clientFeature(name: string, spec: object, probe: Feature['probe']): Feature {
  return { name, objects: () => [httpRoute(name), listenerPolicy(name, spec)], probe };
}

export const TRAFFIC: readonly Feature[] = [
  trafficFeature(
    'local-limit',
    {
      rateLimit: {
        type: 'Local',
        local: {
          rules: [
            {
              clientSelectors: [{ headers: [{ name: 'x-who', value: 'greedy' }] }],
              limit: { requests: 3, unit: 'Hour' },
            },
          ],
        },
      },
    },
    async (probe) => {
      const statuses: number[] = [];
      for (let count = 0; count < 4; count++) {
        statuses.push((await probe.ask('/', { 'x-who': 'greedy' })).status);
      }
      check(statuses.at(-1) === 429, statuses.join());
      await probe.expect({ status: 200 }, '/', { 'x-who': 'modest' });
    },
  ),
  trafficFeature(
    'faults',
    { faultInjection: { abort: { httpStatus: 418, percentage: 100 } } },
    (probe) => status(probe, 418),
  ),
  trafficFeature(
    'circuit-breakers',
    { circuitBreaker: { maxParallelRequests: 1, maxPendingRequests: 1, maxConnections: 1 } },
    async (probe) => {
      const all = await Promise.all([1, 2, 3, 4, 5].map(() => probe.ask('/slow')));
      const refused = all.filter(({ status: seen }) => seen === 503).length;
      check(refused >= 3, `${refused} refused`);
    },
  ),
  trafficFeature(
    'health-checks',
    {
      healthCheck: {
        active: {
          type: 'HTTP',
          http: { path: '/healthy', expectedStatuses: [200] },
          interval: '200ms',
          timeout: '500ms',
          unhealthyThreshold: 1,
          healthyThreshold: 1,
        },
        panicThreshold: 0,
      },
    },
    async (probe) => {
      await probe.expect({ status: 200 });
      check(
        probe.world.web.requests.some(({ path }) => path === '/healthy'),
        'no checks',
      );
    },
  ),
  trafficFeature(
    'ejection',
    {
      healthCheck: {
        passive: {
          consecutive5XxErrors: 2,
          interval: '100ms',
          baseEjectionTime: '60s',
          maxEjectionPercent: 100,
        },
        panicThreshold: 0,
      },
    },
    async (probe) => {
      for (let count = 0; count < 3; count++) await probe.ask('/status/500');
      await probe.expect({ status: 503 });
    },
  ),
  trafficFeature('compression', { compression: [{ type: 'Gzip', gzip: {} }] }, async (probe) => {
    const headers = { host: 'tried.test', 'accept-encoding': 'gzip', 'x-long': '1' };
    const { headers: answered, body } = await fetchBytes(probe.port, headers);
    check(answered['content-encoding'] === 'gzip', 'encoding');
    check(gunzipSync(body).toString() === 'web'.repeat(1000), 'body');
  }),
  trafficFeature(
    'other-answers',
    {
      responseOverride: [
        {
          match: { statusCodes: [{ type: 'Value', value: 404 }] },
          response: {
            statusCode: 410,
            contentType: 'text/plain',
            body: { type: 'Inline', inline: 'gone' },
          },
        },
      ],
    },
    async (probe) => {
      await probe.expect({ status: 410, body: 'gone' }, '/status/404');
      await probe.expect({ status: 200, body: 'web' });
    },
  ),
  trafficFeature('request-buffer', { requestBuffer: { limit: '1Ki' } }, async (probe) => {
    const post = (size: number): Promise<{ status: number }> =>
      probe.ask('/', {}, { method: 'POST', body: 'x'.repeat(size) });
    check((await post(500)).status === 200 && (await post(5000)).status === 413, 'limit');
  }),
  // Its loader of files cannot hold the size of a hash table, nor shares of admission control.
  trafficFeature(
    'least-request',
    { loadBalancer: { type: 'LeastRequest' } },
    async (probe) => {
      const bodies = new Set<string>();
      for (let count = 0; count < 40; count++) bodies.add((await probe.ask()).body);
      check(bodies.size === 2, [...bodies].join());
    },
    { backendRefs: [backendRef('both')] },
  ),
  trafficFeature('backend-timeout', { timeout: { http: { requestTimeout: '200ms' } } }, (probe) =>
    status(probe, 504, '/slow'),
  ),
  trafficFeature(
    'bandwidth',
    { bandwidthLimit: { response: { limit: { value: '1Mi', unit: 'Second' } } } },
    (probe) => status(probe, 200, '/long'),
  ),
  clientFeature(
    'connection-limit',
    { connection: { connectionLimit: { value: 1 } } },
    async (probe) => {
      const held = await openRaw(probe.port);
      held.send('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      await held.until('web');
      const second = await openRaw(probe.port);
      second.send('GET / HTTP/1.1\r\nhost: x\r\n\r\n');
      check((await second.closed()) === '', 'a second connection');
      held.destroy();
    },
  ),
  clientFeature('proxy-protocol', { proxyProtocol: { optional: false } }, async (probe) => {
    const connection = await openRaw(probe.port);
    connection.send('PROXY TCP4 203.0.113.9 203.0.113.1 1000 80\r\n');
    connection.send('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
    check((await connection.closed()).startsWith('HTTP/1.1 200'), 'no answer');
    const from = probe.world.web.requests.at(-1)?.headers['x-forwarded-for'];
    check(from === '203.0.113.9', `x-forwarded-for: ${String(from)}`);
  }),
  {
    name: 'client-address',
    objects: () => [
      httpRoute('client-address'),
      listenerPolicy('client-address', {
        clientIPDetection: { xForwardedFor: { numTrustedHops: 1 } },
      }),
      policy('SecurityPolicy', 'client-address', {
        authorization: {
          defaultAction: 'Allow',
          rules: [{ action: 'Deny', principal: { clientCIDRs: ['203.0.113.0/24'] } }],
        },
      }),
    ],
    async probe(probe) {
      await probe.expect({ status: 403 }, '/', { 'x-forwarded-for': '203.0.113.7' });
      await probe.expect({ status: 200 }, '/', { 'x-forwarded-for': '198.51.100.7' });
    },
  },
  clientFeature(
    'early-headers',
    { headers: { earlyRequestHeaders: { set: [{ name: 'x-early', value: 'yes' }] } } },
    async (probe) => check((await probe.sent())['x-early'] === 'yes', 'x-early'),
  ),
  clientFeature('health-page', { healthCheck: { path: '/alive' } }, async (probe) => {
    const before = probe.world.web.requests.length;
    await probe.expect({ status: 200, body: '' }, '/alive');
    check(probe.world.web.requests.length === before, 'it went to the host');
  }),
  clientFeature('plain-http10', { http1: { http10: {} } }, async (probe) => {
    const connection = await openRaw(probe.port);
    connection.send('GET / HTTP/1.0\r\nhost: x\r\n\r\n');
    check((await connection.closed()).includes('web'), 'no answer');
  }),
  {
    name: 'lua',
    objects: () => [
      httpRoute('lua'),
      policy('EnvoyExtensionPolicy', 'lua', {
        lua: [
          {
            type: 'Inline',
            inline: `function envoy_on_response(handle) handle:headers():add("x-lua", "ran") end`,
          },
        ],
      }),
    ],
    async probe(probe) {
      const { headers } = await probe.expect({ status: 200 });
      check(headers['x-lua'] === 'ran', 'x-lua');
    },
  },
  {
    name: 'ext-proc',
    objects: () => [
      httpRoute('ext-proc'),
      policy('EnvoyExtensionPolicy', 'ext-proc', {
        extProc: [
          { backendRefs: [backendRef('processor')], processingMode: { request: {}, response: {} } },
        ],
      }),
    ],
    async probe(probe) {
      check((await probe.sent())['x-processed'] === 'yes', 'request headers');
      const { headers } = await probe.expect({ status: 200 });
      check(headers['x-processed'] === 'yes', 'response headers');
    },
  },
  {
    name: 'websocket',
    objects: () => [httpRoute('websocket')],
    async probe(probe) {
      // The host does not upgrade: its own answer comes back.
      const { status: seen } = await fetchOnce({
        port: probe.port,
        headers: { connection: 'Upgrade', upgrade: 'websocket', host: 'tried.test' },
      });
      check(seen === 200, String(seen));
    },
  },
];

async function status(probe: Probe, wanted: number, path = '/'): Promise<void> {
  await probe.expect({ status: wanted }, path);
}
