/** Access logs that stream to a service: one stream per log, bounded, and opened again. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogServiceConfig } from '../../../shared/resources/access-loggers/grpc.ts';
import { ApiCatalog } from '../../../supervisor/config/api/api-catalog.ts';
import { decodeMessage } from '../../../supervisor/config/convert/message-decoder.ts';
import {
  cluster,
  type DataPlaneSetup,
  host,
  startDataPlane,
  type RunningDataPlane,
} from '../../support/parts/data-plane.ts';
import { HTTP2_OPTIONS } from '../../support/parts/http2-options.ts';
import { direct, prefix, route } from '../../support/parts/routes.ts';
import { fetchOnce } from '../../support/peers/http-client.ts';
import { type SeenCall, startGrpcPeer } from '../../support/peers/services/grpc-peer.ts';
import { waitUntil } from '../../support/wait.ts';

const LOG: LogServiceConfig = {
  kind: 'grpc',
  stream: {
    entries: 'http',
    logName: 'requests',
    target: { kind: 'cluster', cluster: 'logs', authority: 'logs', metadata: [] },
  },
  flushIntervalMs: 10,
  bufferBytes: 16_384,
  requestHeaders: [],
  responseHeaders: [],
  responseTrailers: [],
  filterState: [],
  customTags: [],
};

/** `node { id: "n" }`. */
const NODE = Buffer.from([0x0a, 1, 0x6e]);
const SCOPE = 'access_logs.grpc_access_log.';

interface Entry {
  readonly request?: { readonly path?: string };
}

interface LogMessage {
  readonly identifier?: { readonly node: { readonly id: string }; readonly log_name: string };
  readonly http_logs?: { readonly log_entry: readonly Entry[] };
}

/** Every request is answered at once and logged to the cluster `logs`. */
function setupWith(logs: readonly LogServiceConfig[], servicePort: number): DataPlaneSetup {
  const http2 = { protocol: 'HTTP2', http2: HTTP2_OPTIONS } as const;
  return {
    routes: [route(prefix('/'), direct({ status: 204 }))],
    manager: { accessLogs: logs },
    heritage: { nodeMessage: NODE },
    updates: [
      { op: 'put_cluster', cluster: cluster('logs', {}, http2) },
      {
        op: 'put_hosts',
        hosts: { cluster: 'logs', hosts: [host(servicePort)], overprovisioningFactor: 140 },
      },
    ],
  };
}

async function request(plane: RunningDataPlane, ...paths: readonly string[]): Promise<void> {
  for (const path of paths) await fetchOnce({ port: plane.port, path });
}

async function counted(plane: RunningDataPlane, name: string, value: number): Promise<void> {
  await waitUntil(`${name}: ${value}`, () => plane.stats().get(`${SCOPE}${name}`) === value);
}

const catalog = new ApiCatalog();
const options = { catalog, onUnknownField: () => undefined };

function messagesOf(call: SeenCall | undefined): readonly LogMessage[] {
  const type = catalog.message('envoy.service.accesslog.v3.StreamAccessLogsMessage');
  const messages: LogMessage[] = [];
  let body = call?.body() ?? Buffer.alloc(0);
  while (body.length > 0) {
    const end = 5 + body.readUInt32BE(1);
    messages.push(decodeMessage(options, type, body.subarray(5, end)) as LogMessage);
    body = body.subarray(end);
  }
  return messages;
}

function pathsOf(call: SeenCall | undefined): readonly (string | undefined)[] {
  return messagesOf(call).flatMap(({ http_logs: logs }) =>
    (logs?.log_entry ?? []).map((entry) => entry.request?.path),
  );
}

const hold = ({ stream }: SeenCall): void => {
  stream.respond({ ':status': 200 });
  stream.on('end', () => stream.end());
};
const endWithTrailers = (call: SeenCall): void => {
  call.stream.respond({ ':status': 200, 'grpc-status': '0' }, { endStream: true });
};

describe('an access log that streams to a service', () => {
  it('says who and which log it is in the first message of its stream alone', async () => {
    await using peer = await startGrpcPeer(hold);
    await using plane = await startDataPlane(setupWith([LOG], peer.port));
    await request(plane, '/a');
    await counted(plane, 'grpc_entries_flushed', 1);
    await request(plane, '/b');
    await waitUntil('both entries', () => pathsOf(peer.calls[0]).length === 2);
    const [first, second] = messagesOf(peer.calls[0]);
    assert.deepEqual(first?.identifier, { node: { id: 'n' }, log_name: 'requests' });
    assert.equal(second?.identifier, undefined);
    assert.equal(peer.calls.length, 1);
  });

  it('shares its stream with logs of the same configuration, in other versions of a listener too', async () => {
    await using peer = await startGrpcPeer(hold);
    const filter = { kind: 'status_code', op: 'GE', value: 200 } as const;
    const setup = setupWith([LOG, { ...LOG, filter }], peer.port);
    await using plane = await startDataPlane(setup);
    await request(plane, '/a');
    plane.replaceListener(setup);
    await request(plane, '/b');
    await waitUntil('all entries', () => pathsOf(peer.calls[0]).length === 4);
    assert.deepEqual(pathsOf(peer.calls[0]), ['/a', '/a', '/b', '/b']);
    assert.equal(peer.calls.length, 1);
  });

  it('has one stream for each log name', async () => {
    await using peer = await startGrpcPeer(hold);
    const other = { ...LOG, stream: { ...LOG.stream, logName: 'other' } };
    await using plane = await startDataPlane(setupWith([LOG, other], peer.port));
    await request(plane, '/a');
    const names = (): readonly unknown[] =>
      peer.calls.map((call) => messagesOf(call)[0]?.identifier?.log_name);
    await waitUntil('both streams', () => names().length === 2 && !names().includes(undefined));
    assert.deepEqual(new Set(names()), new Set(['other', 'requests']));
  });

  it('opens another stream when the service has ended one', async () => {
    await using peer = await startGrpcPeer((call) => {
      if (peer.calls.length === 1) endWithTrailers(call);
      else hold(call);
    });
    await using plane = await startDataPlane(setupWith([LOG], peer.port));
    await request(plane, '/a');
    await waitUntil('the end', () => plane.stats().get('cluster.logs.upstream_rq_active') === 0);
    await request(plane, '/b');
    await waitUntil('the entry', () => pathsOf(peer.calls[1]).length === 1);
    assert.equal(messagesOf(peer.calls[1])[0]?.identifier?.log_name, 'requests');
  });

  it('keeps entries while there is no host, and sends them when there is one', async () => {
    await using peer = await startGrpcPeer(hold);
    await using plane = await startDataPlane(setupWith([LOG], peer.port));
    const putHosts = (ports: readonly number[]): void => {
      const hosts = ports.map((port) => host(port));
      void plane.plane.apply([
        { op: 'put_hosts', hosts: { cluster: 'logs', hosts, overprovisioningFactor: 140 } },
      ]);
    };
    putHosts([]);
    await request(plane, '/a');
    await waitUntil('a failure', () => plane.stats().get(`${SCOPE}grpc_entries_flush_failed`));
    assert.equal(plane.stats().get(`${SCOPE}grpc_entries_flushed`) ?? 0, 0);
    putHosts([peer.port]);
    await waitUntil('the entry', () => pathsOf(peer.calls[0]).length === 1);
  });

  it('drops what has no room, while a service reads nothing, and requests go on', async () => {
    await using peer = await startGrpcPeer((call) => call.stream.pause());
    const small = { ...LOG, bufferBytes: 1, requestHeaders: ['x-large'] };
    const setup = setupWith([small], peer.port);
    await using plane = await startDataPlane({
      ...setup,
      updates: [
        {
          op: 'put_cluster',
          cluster: cluster(
            'logs',
            { perConnectionBufferLimitBytes: 4096 },
            { protocol: 'HTTP2', http2: HTTP2_OPTIONS },
          ),
        },
        ...(setup.updates ?? []).slice(1),
      ],
    });
    const headers = { 'x-large': 'x'.repeat(8000) };
    const dropped = (): number => plane.stats().get(`${SCOPE}logs_dropped`) ?? 0;
    for (let sent = 0; sent < 100 && dropped() === 0; sent++) {
      const { status } = await fetchOnce({ port: plane.port, headers });
      assert.equal(status, 204);
    }
    assert.ok(dropped() > 0);
    peer.calls[0]?.stream.close();
  });

  it('sends what waits, and ends its stream, when the worker ends', async () => {
    await using peer = await startGrpcPeer(hold);
    const slow = { ...LOG, flushIntervalMs: 1_000_000 };
    const plane = await startDataPlane(setupWith([slow], peer.port));
    await request(plane, '/a', '/b');
    assert.equal(peer.calls.length, 0);
    await plane.close();
    assert.deepEqual(pathsOf(peer.calls[0]), ['/a', '/b']);
    assert.ok(peer.calls[0]?.stream.readableEnded);
  });
});
