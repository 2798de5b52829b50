/** What the examples of tracing promise: one trace of all the proxies that a request passes. */
import assert from 'node:assert/strict';
import { fetchOnce } from '../peers/http-client.ts';
import { textsAt } from '../peers/services/asked-services.ts';
import { answerCall, framed, startGrpcPeer, type GrpcPeer } from '../peers/services/grpc-peer.ts';
import { startHttpUpstream, type HttpUpstream } from '../peers/upstream.ts';
import { waitUntil } from '../wait.ts';
import { startEcho, startExample, startService, type AskExample } from './stage.ts';

/** Spans are sent when there are so many. */
const FLUSHED_SPANS = 5;
const TRACED = /^(x-request-id|x-b3-.*)$/;

interface Span {
  readonly traceId: string;
  readonly name: string;
  readonly localEndpoint: { readonly serviceName: string };
}

async function startZipkin(): Promise<HttpUpstream> {
  return await startHttpUpstream((request, response) => {
    request.resume().on('end', () => response.writeHead(202).end());
  });
}

/** The services that told of a trace. */
function servicesOf(collector: HttpUpstream, traceId: string): readonly string[] {
  const spans = collector.requests.flatMap(({ body }) => JSON.parse(body) as Span[]);
  const own = spans.filter((span) => span.traceId === traceId);
  return [...new Set(own.map((span) => span.localEndpoint.serviceName))].sort();
}

interface Chain {
  readonly folder: string;
  /** `address:port` of the collector. */
  readonly collector: string;
  readonly port: number;
}

/** A front proxy, and two proxies with services, of which the first leads to the second. */
async function askChain(
  { folder, collector, port }: Chain,
  look: (traceIds: readonly string[]) => Promise<void>,
): Promise<void> {
  await using one = await startService(1);
  await using two = await startService(2);
  const hosts = { [collector]: port, 'service-1:8080': one.port, 'service-2:8080': two.port };
  await using second = await startExample(`${folder}/envoy-2.yaml`, { hosts });
  await using first = await startExample(`${folder}/envoy-1.yaml`, {
    hosts: { ...hosts, 'envoy-2:10000': await second.port(0) },
  });
  await using front = await startExample(`${folder}/envoy-front-proxy.yaml`, {
    hosts: {
      ...hosts,
      'envoy-1:10000': await first.port(0),
      'envoy-1:10001': await first.port(1),
    },
  });
  const ids: string[] = [];
  for (const number of [1, 2]) {
    for (let count = 0; count < FLUSHED_SPANS; count++) {
      const answer = await front.ask(0, `/trace/${number}`);
      assert.equal(answer.body, `Hello from behind Envoy (service ${number})!\n`);
      ids.push(String(answer.headers['x-b3-traceid']));
    }
  }
  await look(ids);
}

/** Takes all that comes, and answers each call when it ends. */
async function startCollector(): Promise<GrpcPeer> {
  return await startGrpcPeer((call) => {
    call.stream.on('end', () => {
      // Streams end with their proxy, calls with their message.
      if (!call.stream.destroyed) answerCall(call, framed(''));
    });
  });
}

/** The texts of this place in all that the collector has heard. */
function heard(collector: GrpcPeer, path: readonly number[]): ReadonlySet<string> {
  return new Set(collector.calls.flatMap((call) => textsAt(call.body(), path)));
}

export const TRACING: Readonly<Record<string, AskExample>> = {
  zipkin: async () => {
    await using zipkin = await startZipkin();
    const chain = { folder: 'zipkin', collector: 'zipkin:9411', port: zipkin.port };
    await askChain(chain, async (ids) => {
      const [short = '', long = ''] = [ids[0], ids[FLUSHED_SPANS]];
      await waitUntil('the longer trace', () => servicesOf(zipkin, long).length === 3);
      const names = ['envoy-proxy-1', 'envoy-proxy-2', 'envoy-proxy-front'];
      assert.deepEqual(servicesOf(zipkin, long), names);
      assert.deepEqual(servicesOf(zipkin, short), ['envoy-proxy-1', 'envoy-proxy-front']);
    });
  },
  opentelemetry: async () => {
    await using collector = await startCollector();
    const port = collector.port;
    await askChain({ folder: 'opentelemetry', collector: 'opentelemetry:4317', port }, async () => {
      const services = (): ReadonlySet<string> => heard(collector, [1, 1, 1, 2, 1]);
      const proxies = ['front-envoy', 'envoy-1', 'envoy-2'];
      await waitUntil('spans of all', () => proxies.every((each) => services().has(each)));
      const names = (): ReadonlySet<string> => heard(collector, [1, 2, 2, 5]);
      await waitUntil('their names', () => names().has('routeToEnvoy2ViaEnvoy1'));
    });
  },
  skywalking: async () => {
    await using collector = await startCollector();
    const port = collector.port;
    await askChain({ folder: 'skywalking', collector: 'skywalking-oap:11800', port }, async () => {
      const services = (): ReadonlySet<string> => heard(collector, [4]);
      await waitUntil('segments of all', () => services().size === 3);
      assert.ok(services().has('envoy-proxy-front'));
    });
  },
  'jaeger-tracing': async () => {
    await using jaeger = await startZipkin();
    const hosts = { 'jaeger:9411': jaeger.port };
    await using last = await startService(2);
    await using second = await startExample('jaeger-tracing/service2-envoy-jaeger.yaml', {
      hosts: { ...hosts, '127.0.0.1:8080': last.port },
    });
    let egress = 0;
    // Asks the second service with the context of its own request.
    await using service = await startHttpUpstream((request, response) => {
      const own = Object.entries(request.headers).filter(([name]) => TRACED.test(name));
      const headers = Object.fromEntries(own) as Record<string, string>;
      const asked = fetchOnce({ port: egress, path: '/trace/2', headers });
      void asked.then(({ body }) => response.end(body));
    });
    await using first = await startExample('jaeger-tracing/service1-envoy-jaeger.yaml', {
      hosts: { ...hosts, '127.0.0.1:8080': service.port, 'service2:8000': await second.port(0) },
    });
    egress = await first.port(1);
    await using front = await startExample('jaeger-tracing/envoy.yaml', {
      hosts: { ...hosts, 'service1:8000': await first.port(0) },
    });
    for (let count = 0; count < FLUSHED_SPANS; count++) {
      const { body } = await front.ask(0, '/trace/1');
      assert.equal(body, 'Hello from behind Envoy (service 2)!\n');
    }
    const ids = service.requests.map(({ headers }) => String(headers['x-b3-traceid']));
    const spans = (): readonly Span[] =>
      jaeger.requests.flatMap(({ body }) => JSON.parse(body) as Span[]);
    // Of the front, of the first service twice, and of the second.
    await waitUntil('spans of all', () => spans().length >= 4 * FLUSHED_SPANS);
    assert.ok(spans().every((span) => ids.includes(span.traceId)));
  },
  'datadog-tracing': async () => {
    await using agent = await startHttpUpstream((request, response) => {
      request.resume().on('end', () => response.end('{}'));
    });
    await using service = await startEcho('http');
    await using example = await startExample('datadog-tracing/envoy.yaml', {
      hosts: { 'http:8080': service.port, 'dd-agent:8126': agent.port },
    });
    const { body } = await example.ask(0, '/');
    assert.match(body, /"x-datadog-trace-id":"\d+"/);
    assert.match(body, /"x-foobar-banana":""/);
    await waitUntil('a report', () =>
      agent.requests.some(
        ({ path, body: told }) => path.endsWith('traces') && told.includes('envoy-demo'),
      ),
    );
    assert.equal((await example.ask(0, '/healthcheck')).status, 200);
  },
};
