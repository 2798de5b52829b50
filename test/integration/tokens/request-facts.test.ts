/** Filters that note facts of a request: members of its body, ranges of its address, its user. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';

const HTTP = 'type.googleapis.com/envoy.extensions.filters.http';

/** Requests go upstream with `x-seen`, which is what the format gives for them. */
async function start(
  up: HttpUpstream,
  filter: object,
  format = '-',
): Promise<{ readonly sluice: Sluice; readonly port: number }> {
  const router = { name: 'router', typed_config: { '@type': `${HTTP}.router.v3.Router` } };
  const seen = { header: { key: 'x-seen', value: format } };
  const route = { match: { prefix: '/' }, route: { cluster: 'up' } };
  const routes = [{ ...route, request_headers_to_add: [seen] }];
  const sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener(routes, { hcm: { http_filters: [filter, router] } })],
      clusters: [staticCluster('up', [up.port])],
    }),
  });
  return { sluice, port: await sluice.listenerPort('web') };
}

function headerOf(up: HttpUpstream, name: string): string | undefined {
  const { rawHeaders = [] } = up.requests.at(-1) ?? {};
  const at = rawHeaders.findIndex((each) => each.toLowerCase() === name);
  return at < 0 ? undefined : rawHeaders[at + 1];
}

function post(port: number, body: string, type: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': type };
    const options = { host: '127.0.0.1', port, method: 'POST', headers, agent: false };
    const outgoing = request(options, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

describe('facts of requests', () => {
  it('json_to_metadata writes members, or what is missing or wrong', async () => {
    const entry = (key: string, more: object): object => ({
      metadata_namespace: 'js',
      key,
      ...more,
    });
    const rule = (key: string, type: string): object => ({
      selectors: [{ key: 'v' }],
      on_present: entry(key, { type }),
      on_missing: entry(key, { value: 'M' }),
      on_error: entry(key, { value: 'E' }),
    });
    await using up = await startHttpUpstream();
    const { sluice, port } = await start(
      up,
      {
        name: 'js',
        typed_config: {
          '@type': `${HTTP}.json_to_metadata.v3.JsonToMetadata`,
          request_rules: {
            rules: [rule('p', 'PROTOBUF_VALUE'), rule('s', 'STRING'), rule('n', 'NUMBER')],
          },
        },
      },
      '%DYNAMIC_METADATA(js)%',
    );
    await using _ = sluice;
    const cases = [
      ['{"v":1.5}', '{"n":1.5,"p":1.5,"s":"1.500000"}'],
      ['{"v":"7"}', '{"n":7,"p":"7","s":"7"}'],
      ['{"v":true}', '{"n":1,"p":true,"s":"1"}'],
      ['{"v":"abc"}', '{"n":"M","p":"abc","s":"abc"}'],
      ['{"v":null}', '{"n":"M","p":"M","s":"M"}'],
      ['{"v":{"w":2}}', '{"n":"M","p":"M","s":"M"}'],
      ['{"__proto__":{"v":1}}', '{"n":"M","p":"M","s":"M"}'],
      ['{"v', '{"n":"E","p":"E","s":"E"}'],
      ['', '{"n":"M","p":"M","s":"M"}'],
    ] as const;
    for (const [body, seen] of cases) {
      assert.equal(await post(port, body, 'application/json'), 200);
      assert.equal(headerOf(up, 'x-seen'), seen, body);
    }
    await post(port, '{"v":1}', 'application/json; charset=utf-8');
    assert.equal(headerOf(up, 'x-seen'), '{"n":"E","p":"E","s":"E"}');
    assert.equal(await sluice.stat('json_to_metadata.rq.success'), 7);
    assert.equal(await sluice.stat('json_to_metadata.rq.invalid_json_body'), 1);
  });

  it('ip_tagging replaces what a client says of itself', async () => {
    await using up = await startHttpUpstream();
    const range = (prefix: string, length: number): object => ({
      address_prefix: prefix,
      prefix_len: length,
    });
    const { sluice, port } = await start(up, {
      name: 'tags',
      typed_config: {
        '@type': `${HTTP}.ip_tagging.v3.IPTagging`,
        ip_tags: [
          { ip_tag_name: 'near', ip_list: [range('127.0.0.0', 8)] },
          { ip_tag_name: 'far', ip_list: [range('192.0.2.0', 24)] },
        ],
      },
    });
    await using _ = sluice;
    await fetchOnce({ port, headers: { 'x-envoy-ip-tags': 'far' } });
    assert.equal(headerOf(up, 'x-envoy-ip-tags'), 'near');
    const stats = await sluice.stats('filter=ip_tagging');
    assert.match(stats, /near\.hit: 1$/m);
    assert.doesNotMatch(stats, /far\.hit/);
  });

  it('basic_auth lets requests without credentials pass where it may, and notes users', async () => {
    await using up = await startHttpUpstream();
    const users = { inline_string: 'alice:{SHA}4JlqN8E9RMOwYHSTnUP6N1m9MsE=' };
    const filter = {
      name: 'envoy.filters.http.basic_auth',
      typed_config: {
        '@type': `${HTTP}.basic_auth.v3.BasicAuth`,
        users,
        allow_missing: true,
        emit_dynamic_metadata: true,
        realm: 'the house',
      },
    };
    const format = '%DYNAMIC_METADATA(envoy.filters.http.basic_auth:username)%';
    const { sluice, port } = await start(up, filter, format);
    await using _ = sluice;
    assert.equal((await fetchOnce({ port })).status, 200);
    const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
    const good = await fetchOnce({ port, headers: { authorization: basic('alice:first') } });
    assert.deepEqual([good.status, headerOf(up, 'x-seen')], [200, 'alice']);
    const bad = await fetchOnce({ port, headers: { authorization: basic('alice:other') } });
    assert.equal(bad.status, 401);
    assert.equal(bad.headers['www-authenticate'], 'Basic realm="the house"');
  });
});
