import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { CLOSED_PORT, startRawUpstream, type RawUpstream } from '../../support/peers/upstream.ts';
import { runSluice, startSluice, type Sluice } from '../../support/programs/sluice.ts';
import {
  binaryMessage,
  CALL,
  compactMessage,
  EXCEPTION,
  field,
  framed,
  int32,
  ONE_WAY,
  REPLY,
  STOP,
  text,
  withHeaders,
} from '../../support/thrift.ts';

const TYPE = 'type.googleapis.com/envoy.extensions.filters.network.thrift_proxy';
const OPTIONS = 'envoy.filters.network.thrift_proxy';

/** Answers of a host, which repeats the number of the request. */
function answerTo(request: Buffer, says: string): Buffer | undefined {
  const isHeader = request.readUInt16BE(4) === 0x0fff;
  const start = request[0] !== 0 ? 0 : isHeader ? 14 + request.readUInt16BE(12) * 4 : 4;
  const message = request.subarray(start);
  if (message[0] === 0x82) {
    const body = Buffer.from([0x08, 0, 2, 0x6f, 0x6b, 0]);
    return compactMessage('add', REPLY, message[2] ?? 0, body);
  }
  const length = message.readInt32BE(4);
  const name = message.subarray(8, 8 + length).toString();
  const sequence = message.readInt32BE(8 + length);
  if (message[3] === ONE_WAY || name === 'leave') return undefined;
  if (name === 'fail') {
    return framed(binaryMessage(name, REPLY, sequence, Buffer.concat([field(12, 1, STOP), STOP])));
  }
  const reply = binaryMessage(
    name,
    REPLY,
    sequence,
    Buffer.concat([field(11, 0, text(says)), STOP]),
  );
  if (start === 0) return reply;
  return isHeader ? withHeaders(reply, { from: says }, sequence) : framed(reply);
}

function hostSaying(says: string): Promise<RawUpstream> {
  return startRawUpstream((socket) => {
    socket.on('data', (data: Buffer) => {
      for (const request of apart(data)) {
        const answer = answerTo(request, says);
        if (answer !== undefined) socket.write(answer);
        else if (request.includes('leave')) socket.destroy();
      }
    });
  });
}

/** Requests that came together, by their frames; one without a frame comes alone here. */
function* apart(data: Buffer): Generator<Buffer> {
  for (let at = 0; at < data.length;) {
    const end = data.length - at < 4 ? data.length : at + 4 + data.readUInt32BE(at);
    yield data.subarray(at, end);
    at = end;
  }
}

function exception(name: string, sequence: number, why: string, kind: number): Buffer {
  const body = Buffer.concat([field(11, 1, text(why)), field(8, 2, int32(kind)), STOP]);
  return framed(binaryMessage(name, EXCEPTION, sequence, body));
}

const ofHeader = { metadata_namespace: 'envoy.lb', key: 'version' };
const proxy = {
  name: 'thrift',
  typed_config: {
    '@type': `${TYPE}.v3.ThriftProxy`,
    stat_prefix: 'front',
    route_config: {
      name: 'routes',
      validate_clusters: false,
      routes: [
        { match: { method_name: 'gone' }, route: { cluster: 'gone' } },
        { match: { method_name: 'dead' }, route: { cluster: 'dead' } },
        { match: { method_name: 'version' }, route: { cluster: 'versions' } },
        { match: { method_name: 'named' }, route: { cluster_header: 'x-cluster' } },
        { match: { service_name: 'Calc' }, route: { cluster: 'up', strip_service_name: true } },
        { match: { method_name: 'nowhere', invert: true }, route: { cluster: 'up' } },
      ],
    },
    thrift_filters: [
      {
        name: 'headers',
        typed_config: {
          '@type': `${TYPE}.filters.header_to_metadata.v3.HeaderToMetadata`,
          request_rules: [{ header: 'x-version', on_present: ofHeader, remove: true }],
        },
      },
      {
        name: 'payload',
        typed_config: {
          '@type': `${TYPE}.filters.payload_to_metadata.v3.PayloadToMetadata`,
          request_rules: [
            {
              service_name: 'Other',
              field_selector: { name: 'version', id: 1 },
              on_present: ofHeader,
            },
          ],
        },
      },
      { name: 'router', typed_config: { '@type': `${TYPE}.router.v3.Router` } },
    ],
  },
};

describe('the Thrift proxy', () => {
  let old: RawUpstream;
  let young: RawUpstream;
  let sluice: Sluice;

  before(async () => {
    [old, young] = await Promise.all([hostSaying('old'), hostSaying('new')]);
    const host = (port: number, version: string): object => ({
      endpoint: { address: { socket_address: { address: '127.0.0.1', port_value: port } } },
      metadata: { filter_metadata: { 'envoy.lb': { version } } },
    });
    const endpoints = [{ lb_endpoints: [host(old.port, '1'), host(young.port, '2')] }];
    sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [
          {
            name: 'thrift',
            address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
            filter_chains: [{ filters: [proxy] }],
          },
        ],
        clusters: [
          staticCluster('up', [old.port]),
          staticCluster('dead', [CLOSED_PORT]),
          staticCluster('carried', [young.port], {
            typed_extension_protocol_options: {
              [OPTIONS]: { '@type': `${TYPE}.v3.ThriftProtocolOptions`, transport: 'HEADER' },
            },
          }),
          staticCluster('versions', [], {
            lb_subset_config: {
              fallback_policy: 'NO_FALLBACK',
              subset_selectors: [{ keys: ['version'] }],
            },
            load_assignment: { cluster_name: 'versions', endpoints },
          }),
        ],
      }),
    });
  });

  after(async () => {
    await sluice.stop();
    await Promise.all([old.close(), young.close()]);
  });

  async function ask(...requests: readonly Buffer[]): Promise<(answer: Buffer) => Promise<void>> {
    const client = await openRaw(await sluice.listenerPort('thrift'));
    for (const request of requests) client.send(request);
    return async (answer) => {
      await client.until(answer.toString('latin1'));
      client.destroy();
    };
  }

  const result = (says: string): Buffer => Buffer.concat([field(11, 0, text(says)), STOP]);

  it('takes messages to hosts in the transport and protocol of the client', async () => {
    const plain = binaryMessage('add', CALL, 77, STOP);
    const answer = binaryMessage('add', REPLY, 77, result('old'));
    await (
      await ask(framed(plain))
    )(framed(answer));
    await (
      await ask(plain)
    )(answer);
    await (
      await ask(withHeaders(plain, { a: 'b' }, 5))
    )(answer);
    const compact = compactMessage('add', CALL, 9, STOP);
    await (
      await ask(compact)
    )(Buffer.from([0x82, 0x41, 9, 3]));
  });

  it('uses a connection for one request after the other, with numbers of its own', async () => {
    const one = framed(binaryMessage('add', CALL, 500, STOP));
    await (
      await ask(one)
    )(framed(binaryMessage('add', REPLY, 500, result('old'))));
    const seen = old.received.filter((bytes) => bytes.startsWith('\0\0\0\x10\x80'));
    assert.equal(seen.length, 1);
    assert.ok(seen[0]?.includes('add\0\0\0\x01'));
  });

  it('chooses hosts by what filters read in headers', async () => {
    const request = withHeaders(binaryMessage('version', CALL, 1, STOP), { 'X-Version': '2' }, 1);
    await (
      await ask(request)
    )(binaryMessage('version', REPLY, 1, result('new')));
    assert.ok(!(young.received.at(-1) ?? '').toLowerCase().includes('x-version'));
  });

  it('speaks to a cluster by the transport that it asks for', async () => {
    const request = withHeaders(
      binaryMessage('named', CALL, 3, STOP),
      { 'x-cluster': 'carried' },
      3,
    );
    await (
      await ask(request)
    )(binaryMessage('named', REPLY, 3, result('new')));
    assert.ok(young.received.at(-1)?.includes('\x0f\xff'));
  });

  it('leaves the service out where a route says so', async () => {
    const request = framed(binaryMessage('Calc:sum', CALL, 4, STOP));
    await (
      await ask(request)
    )(framed(binaryMessage('sum', REPLY, 4, result('old'))));
  });

  it('answers by exceptions where a request cannot be served, as Envoy words them', async () => {
    const call = (name: string): Buffer => framed(binaryMessage(name, CALL, 8, STOP));
    await (
      await ask(call('nowhere'))
    )(exception('nowhere', 8, "no route for method 'nowhere'", 1));
    await (
      await ask(call('gone'))
    )(exception('gone', 8, "unknown cluster 'gone'", 6));
    await (
      await ask(call('version'))
    )(exception('version', 8, "no healthy upstream for 'versions'", 6));
    const lost = `connection failure before response start: remote connection failure '127.0.0.1:`;
    await (
      await ask(call('dead'))
    )(exception('dead', 8, `${lost}${CLOSED_PORT}'`, 6));
    await (
      await ask(call('leave'))
    )(exception('leave', 8, `${lost}${old.port}'`, 6));
  });

  it('waits for no answer of a one-way request, and closes on what is no request', async () => {
    const oneWay = framed(binaryMessage('note', ONE_WAY, 1, STOP));
    const call = framed(binaryMessage('add', CALL, 2, STOP));
    await (
      await ask(oneWay, call)
    )(framed(binaryMessage('add', REPLY, 2, result('old'))));
    const client = await openRaw(await sluice.listenerPort('thrift'));
    client.send('GET / HTTP/1.1\r\n\r\n');
    assert.equal(await client.closed(), '');
  });

  it('counts by kind and by cluster', async () => {
    const call = framed(binaryMessage('fail', CALL, 1, STOP));
    const body = Buffer.concat([field(12, 1, STOP), STOP]);
    await (
      await ask(call)
    )(framed(binaryMessage('fail', REPLY, 1, body)));
    assert.equal(await sluice.stat('thrift.front.response_error'), 1);
    assert.equal(await sluice.stat('thrift.front.request_oneway'), 1);
    assert.equal(await sluice.stat('thrift.front.route_missing'), 1);
    assert.equal(await sluice.stat('thrift.front.unknown_cluster'), 1);
    assert.equal(await sluice.stat('thrift.front.no_healthy_upstream'), 1);
    assert.equal(await sluice.stat('thrift.front.request_decoding_error'), 1);
    assert.equal(await sluice.stat('thrift.front.request_active'), 0);
    assert.equal(await sluice.stat('cluster.up.thrift.upstream_resp_error'), 1);
    assert.equal(
      await sluice.stat(
        'cluster.dead.thrift.upstream_resp_exception_local.remote_connection_failure',
      ),
      1,
    );
  });

  it('is not begun with where a route names a cluster that is not there', async () => {
    const { typed_config: config } = proxy;
    const { validate_clusters: _, ...routes } = config.route_config;
    const checked = { ...proxy, typed_config: { ...config, route_config: routes } };
    const listener = {
      name: 'thrift',
      address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
      filter_chains: [{ filters: [checked] }],
    };
    const text = JSON.stringify(bootstrap({ listeners: [listener] }));
    const { code, stderr } = await runSluice(['--mode', 'validate', '--config-yaml', text]);
    assert.equal(code, 1);
    assert.ok(stderr.includes("route: unknown thrift cluster 'gone'"));
  });
});
