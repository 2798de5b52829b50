/** Filters that limit by what they measure: bandwidth, failures, requests under way. */
import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { type Answer, fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.http';

interface Limited {
  readonly sluice: Sluice;
  ask(path?: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function startWith(port: number, type: string, config: object): Promise<Limited> {
  const filters = [
    { name: 'limit', typed_config: { '@type': `${TYPE}.${type}`, ...config } },
    { name: 'router', typed_config: { '@type': `${TYPE}.router.v3.Router` } },
  ];
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener(routes, { hcm: { http_filters: filters } })],
      clusters: [staticCluster('up', [port])],
    }),
  });
  const web = await sluice.listenerPort('web');
  return {
    sluice,
    ask: async (path = '/', headers = {}) => fetchOnce({ port: web, path, headers }),
    [Symbol.asyncDispose]: async () => sluice[Symbol.asyncDispose](),
  };
}

/** The tenant that a header names; without it the one without a name. */
function tenantNamed(name: string): object {
  return {
    predicate: {
      single_predicate: {
        input: {
          name: 'tenant',
          typed_config: {
            '@type': 'type.googleapis.com/envoy.type.matcher.v3.HttpRequestHeaderMatchInput',
            header_name: 'x-tenant',
          },
        },
        value_match: { exact: name },
      },
    },
    on_match: {
      action: {
        name: 'name',
        typed_config: { '@type': 'type.googleapis.com/google.protobuf.StringValue', value: name },
      },
    },
  };
}

const SHARED_BANDWIDTH = {
  response_limit: { bucket_id: 'out', kbps: { default_value: 10, runtime_key: 'out' } },
  tenant_name_selector: {
    matcher_list: { matchers: [tenantNamed('heavy'), tenantNamed('light')] },
  },
  tenant_configs: { heavy: { weight: 6, include_stats_tag: true }, light: { weight: 1 } },
};

describe('limits by what is measured', () => {
  it('bandwidth_limit paces a body, and loses nothing of it', async () => {
    const body = 'x'.repeat(3000);
    await using upstream = await startHttpUpstream((_, response) => response.end(body));
    await using limited = await startWith(upstream.port, 'bandwidth_limit.v3.BandwidthLimit', {
      stat_prefix: 'b',
      enable_mode: 'RESPONSE',
      limit_kbps: 8,
      fill_interval: '0.05s',
    });
    const beganMs = performance.now();
    assert.equal((await limited.ask()).body, body);
    // What is there at first is 409 bytes; the rest takes its time at 8,192 a second.
    assert.ok(performance.now() - beganMs > 250);
    const stat = async (name: string): Promise<number> =>
      limited.sluice.stat(`b.http_bandwidth_limit.response_${name}`);
    assert.equal(await stat('allowed_total_size'), 3000);
    assert.equal(await stat('pending'), 0);
    assert.ok((await stat('enforced')) > 0);
  });

  it('bandwidth_share gives tenants their part by weight, once there is too little', async () => {
    await using upstream = await startHttpUpstream(({ url }, response) =>
      response.end('x'.repeat(url === '/first' ? 9000 : 3000)),
    );
    await using limited = await startWith(
      upstream.port,
      'bandwidth_share.v3.BandwidthShare',
      SHARED_BANDWIDTH,
    );
    // What is there at first goes to nobody in particular.
    await limited.ask('/first');
    const ended: string[] = [];
    const ask = async (tenant: string): Promise<number | undefined> => {
      const { body } = await limited.ask('/', { 'x-tenant': tenant });
      ended.push(tenant);
      return body?.length;
    };
    const lengths = await Promise.all([ask('light'), ask('light'), ask('heavy')]);
    assert.deepEqual(lengths, [3000, 3000, 3000]);
    assert.deepEqual(ended, ['heavy', 'light', 'light']);
    const stat = async (tenant: string, name: string): Promise<number> =>
      limited.sluice.stat(`bandwidth_share.${name.replace('*', `bucket_id.out.tenant.${tenant}`)}`);
    const bytes = 'bytes.*.direction.response.handling';
    assert.equal(await stat('heavy', `${bytes}.limited`), 3000);
    assert.equal(await stat('', `${bytes}.limited`), 6000);
    assert.equal(await stat('', `${bytes}.not_limited`), 9000);
    assert.equal(await stat('', 'bytes_pending.*.direction.response'), 0);
    assert.equal(await stat('heavy', 'streams_currently_limited.*.direction.response'), 0);
  });

  it('admission_control rejects while too many fail, and counts rejections as neither', async () => {
    await using upstream = await startHttpUpstream((request, response) => {
      response.writeHead(request.url === '/bad' ? 500 : 200).end();
    });
    await using limited = await startWith(upstream.port, 'admission_control.v3.AdmissionControl', {
      success_criteria: {},
      aggression: { default_value: 100000 },
      max_rejection_probability: { default_value: { value: 100 } },
    });
    assert.equal((await limited.ask('/good')).status, 200);
    assert.equal((await limited.ask('/bad')).status, 500);
    for (let count = 0; count < 3; count++) assert.equal((await limited.ask('/good')).status, 503);
    assert.equal(upstream.requests.length, 2);
    assert.equal(await limited.sluice.stat('http.web.admission_control.rq_rejected'), 3);
    assert.equal(await limited.sluice.stat('http.web.admission_control.rq_failure'), 1);
  });

  it('adaptive_concurrency admits as many at once as its limit says', async () => {
    const held: ServerResponse[] = [];
    await using upstream = await startHttpUpstream((_, response) => void held.push(response));
    const controller = {
      concurrency_limit_params: { concurrency_update_interval: '600s' },
      min_rtt_calc_params: { interval: '600s', min_concurrency: 2 },
    };
    await using limited = await startWith(
      upstream.port,
      'adaptive_concurrency.v3.AdaptiveConcurrency',
      { gradient_controller_config: controller },
    );
    const admitted = [limited.ask(), limited.ask()];
    await waitUntil('two requests are held', () => held.length === 2);
    const refused = await limited.ask();
    assert.deepEqual([refused.status, refused.body], [503, 'reached concurrency limit']);
    for (const response of held.splice(0)) response.end();
    assert.deepEqual(
      (await Promise.all(admitted)).map((answer) => answer.status),
      [200, 200],
    );
    const again = limited.ask();
    await waitUntil('another is held', () => held.length === 1);
    held[0]?.end();
    assert.equal((await again).status, 200);
  });
});
