/** Traces: what collectors receive, what goes upstream, and that a collector's end is no request's. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { bootstrap, httpListener, staticCluster } from '../../support/parts/bootstrap.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { grpcCluster, textsAt } from '../../support/peers/services/asked-services.ts';
import { answerCall, framed, startGrpcPeer } from '../../support/peers/services/grpc-peer.ts';
import { CLOSED_PORT, type HttpUpstream, startHttpUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { waitUntil } from '../../support/wait.ts';

const TRACE = 'type.googleapis.com/envoy.config.trace.v3';
const PARENT = { trace: '463ac35c9f6413ad48485a3953bb6124', span: 'a2fb4a1d1a96d312' };
/** Fields of a list of Zipkin's spans: their names, and their services'. */
const SPAN_NAMES = [1, 5];
const SERVICE_NAMES = [1, 8, 1];
const ZIPKIN = {
  name: 'envoy.tracers.zipkin',
  typed_config: {
    '@type': `${TRACE}.ZipkinConfig`,
    collector_cluster: 'collector',
    collector_endpoint: '/api/v2/spans',
    collector_endpoint_version: 'HTTP_JSON',
  },
};

function openTelemetry(config: object): object {
  const type = `${TRACE}.OpenTelemetryConfig`;
  return { name: 'envoy.tracers.opentelemetry', typed_config: { '@type': type, ...config } };
}

interface Running {
  readonly sluice: Sluice;
  readonly upstream: HttpUpstream;
  ask(path?: string, headers?: Record<string, string>): Promise<number>;
  [Symbol.asyncDispose](): Promise<void>;
}

async function startWith(tracing: object, collector: object): Promise<Running> {
  const upstream = await startHttpUpstream();
  const routes = [{ match: { prefix: '/' }, route: { cluster: 'up' } }];
  const sluice = await startSluice({
    bootstrap: {
      ...bootstrap({
        listeners: [httpListener(routes, { hcm: { tracing } })],
        clusters: [staticCluster('up', [upstream.port]), collector],
      }),
      node: { id: 'node-1', cluster: 'front' },
      layered_runtime: {
        layers: [
          {
            name: 'flushes',
            static_layer: {
              'tracing.zipkin.min_flush_spans': 1,
              'tracing.opentelemetry.min_flush_spans': 1,
            },
          },
        ],
      },
    },
  });
  const port = await sluice.listenerPort('web');
  return {
    sluice,
    upstream,
    ask: async (path = '/', headers = {}) => (await fetchOnce({ port, path, headers })).status,
    [Symbol.asyncDispose]: async () => {
      await sluice[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}

interface ZipkinSpan {
  readonly traceId: string;
  readonly id: string;
  readonly parentId?: string;
  readonly kind: string;
  readonly name: string;
  readonly tags: Readonly<Record<string, string>>;
}

function spansOf(collector: HttpUpstream): readonly ZipkinSpan[] {
  return collector.requests.flatMap(({ body }) => JSON.parse(body) as ZipkinSpan[]);
}

describe('tracing', () => {
  it('sends Zipkin spans of a request and of its attempt, and their context upstream', async () => {
    await using collector = await startHttpUpstream((request, response) => {
      request.resume().on('end', () => response.writeHead(202).end());
    });
    const tags = [{ tag: '__proto__', request_header: { name: 'x-tag' } }];
    const tracing = { provider: ZIPKIN, spawn_upstream_span: true, custom_tags: tags };
    await using running = await startWith(tracing, staticCluster('collector', [collector.port]));
    const given = { 'x-b3-traceid': PARENT.trace, 'x-b3-spanid': PARENT.span, 'x-tag': 'mine' };
    assert.equal(await running.ask('/a', given), 200);
    await waitUntil('both spans', () => spansOf(collector).length === 2);
    const [client, server] = spansOf(collector);
    assert.deepEqual([client?.kind, server?.kind], ['CLIENT', 'SERVER']);
    assert.deepEqual([server?.traceId, server?.id], [PARENT.trace, PARENT.span]);
    assert.equal(client?.parentId, PARENT.span);
    assert.equal(
      Object.entries(server?.tags ?? {}).find(([name]) => name === '__proto__')?.[1],
      'mine',
    );
    const { headers } = running.upstream.requests[0] ?? assert.fail('nothing came');
    assert.equal(headers['x-b3-spanid'], client.id);
    assert.equal(headers['x-b3-parentspanid'], PARENT.span);
    await running.sluice.waitForStat('tracing.zipkin.reports_sent', (count) => count === 2);
  });

  it('sends Zipkin spans as protobuf where this is wanted', async () => {
    await using collector = await startHttpUpstream((request, response) => {
      request.resume().on('end', () => response.writeHead(202).end());
    });
    const typed_config = { ...ZIPKIN.typed_config, collector_endpoint_version: 'HTTP_PROTO' };
    const tracing = { provider: { ...ZIPKIN, typed_config } };
    await using running = await startWith(tracing, staticCluster('collector', [collector.port]));
    assert.equal(await running.ask('/a', { host: 'shop.test' }), 200);
    await waitUntil('a report', () => collector.requests.length === 1);
    const { body, headers } = collector.requests[0] ?? assert.fail('nothing came');
    assert.equal(headers['content-type'], 'application/x-protobuf');
    const bytes = framed(Buffer.from(body, 'latin1'));
    assert.deepEqual(textsAt(bytes, SPAN_NAMES), ['shop.test']);
    assert.deepEqual(textsAt(bytes, SERVICE_NAMES), ['front']);
  });

  it('sends OpenTelemetry spans by gRPC, and none of a parent that was not sampled', async () => {
    const names: string[] = [];
    await using collector = await startGrpcPeer((call) =>
      call.stream.on('end', () => {
        names.push(...textsAt(call.body(), [1, 2, 2, 5]));
        answerCall(call, framed(Buffer.alloc(0)));
      }),
    );
    const service = { grpc_service: { envoy_grpc: { cluster_name: 'collector' }, timeout: '1s' } };
    const tracing = { provider: openTelemetry(service), operation: 'op %REQ(:PATH)%' };
    await using running = await startWith(tracing, grpcCluster('collector', collector.port));
    const parent = `00-${PARENT.trace}-${PARENT.span}`;
    await running.ask('/quiet', { traceparent: `${parent}-00` });
    await running.ask('/heard', { traceparent: `${parent}-01` });
    await waitUntil('a span', () => names.length > 0);
    assert.deepEqual(names, ['op /heard']);
    const seen = running.upstream.requests.map(({ headers }) => headers['traceparent']);
    assert.match(String(seen[0]), new RegExp(`^00-${PARENT.trace}-[0-9a-f]{16}-00$`));
    assert.match(String(seen[1]), new RegExp(`^00-${PARENT.trace}-[0-9a-f]{16}-01$`));
  });

  it('answers as before where the collector is gone, and counts what was lost', async () => {
    await using running = await startWith(
      { provider: ZIPKIN },
      staticCluster('collector', [CLOSED_PORT]),
    );
    for (let asked = 0; asked < 20; asked++) assert.equal(await running.ask(), 200);
    await running.sluice.waitForStat('tracing.zipkin.reports_dropped', (count) => count === 20);
  });

  it('answers as before where the collector never does', async () => {
    await using collector = await startHttpUpstream((request) => void request.resume());
    const uri = { uri: 'http://collector/v1/traces', cluster: 'collector', timeout: '60s' };
    const provider = openTelemetry({ http_service: { http_uri: uri }, max_cache_size: 10 });
    await using running = await startWith(
      { provider },
      staticCluster('collector', [collector.port]),
    );
    for (let asked = 0; asked < 60; asked++) assert.equal(await running.ask(), 200);
    await running.sluice.waitForStat('tracing.opentelemetry.spans_dropped', (count) => count > 0);
    assert.ok(collector.requests.length <= 20, `${collector.requests.length} reports at once`);
  });
});
