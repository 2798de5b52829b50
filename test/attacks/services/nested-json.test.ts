/**
 * JSON that is nested as deeply as a message is long, in bodies that filters read and write again:
 * nothing throws, and the messages pass.
 */
import assert from 'node:assert/strict';
import { it } from 'node:test';
import { attackRuns } from '../../support/attack.ts';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice } from '../../support/programs/sluice.ts';

const TYPE = 'type.googleapis.com/envoy.extensions';
const DEPTHS = [100, 499, 1000, 2000, 3000, 5000, 8000, attackRuns(60_000, 400_000)];
const FORMS = [
  (depth: number) => '['.repeat(depth) + ']'.repeat(depth),
  (depth: number) => `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`,
  (depth: number) => '['.repeat(depth),
  (depth: number) => `"${'['.repeat(depth)}"`,
];

const entry = { metadata_namespace: 'ns', key: 'k', type: 'STRING' };
const rules = [{ rule: { selectors: [{ key: 'a' }], on_present: entry } }];
const sseToMetadata = {
  '@type': `${TYPE}.filters.http.sse_to_metadata.v3.SseToMetadata`,
  response_rules: {
    content_parser: {
      name: 'envoy.content_parsers.json',
      typed_config: { '@type': `${TYPE}.content_parsers.json.v3.JsonContentParser`, rules },
    },
    max_event_size: 10_000_000,
  },
};
const jsonToMetadata = {
  '@type': `${TYPE}.filters.http.json_to_metadata.v3.JsonToMetadata`,
  request_rules: { rules: [{ selectors: [{ key: 'a' }], on_present: entry }] },
};
const body_format = { json_format: { a: '%REQUEST_BODY(a)%', more: '%REQUEST_BODY(b)%' } };
const transform = {
  '@type': `${TYPE}.filters.http.transform.v3.TransformConfig`,
  request_transformation: { body_transformation: { action: 'MERGE', body_format } },
};

it('passes through filters that read and write it', async () => {
  await using upstream = await startHttpUpstream((request, response) => {
    const pieces: Buffer[] = [];
    request.on('data', (piece: Buffer) => pieces.push(piece));
    request.on('end', () => {
      response.setHeader('content-type', 'text/event-stream');
      response.end(`data: ${Buffer.concat(pieces).toString()}\n\n`);
    });
  });
  const http_filters = [
    { name: 'json', typed_config: jsonToMetadata },
    { name: 'transform', typed_config: transform },
    { name: 'sse', typed_config: sseToMetadata },
    { name: 'router', typed_config: { '@type': `${TYPE}.filters.http.router.v3.Router` } },
  ];
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
  const listener = { per_connection_buffer_limit_bytes: 10_000_000 };
  await using sluice = await startSluice({
    bootstrap: bootstrap({
      listeners: [httpListener(routes, { hcm: { http_filters }, listener })],
      clusters: [staticCluster('up', [upstream.port], listener)],
    }),
  });
  const port = await sluice.listenerPort('web');
  const headers = { 'content-type': 'application/json' };
  for (const depth of DEPTHS) {
    for (const form of FORMS) {
      const body = `{"a":${form(depth)},"b":1}`;
      const { status } = await fetchOnce({ port, method: 'POST', headers, body });
      assert.equal(status, 200, `${body.slice(0, 10)} ${depth}`);
    }
  }
  assert.equal(await sluice.stat('sluice.worker.exceptions'), 0);
});
