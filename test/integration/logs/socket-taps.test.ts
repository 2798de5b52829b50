import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { after, before, describe, it } from 'node:test';
import { bootstrap, staticCluster } from '../../support/parts/bootstrap.ts';
import { openRaw } from '../../support/peers/raw-client.ts';
import { startRawUpstream, type RawUpstream } from '../../support/peers/upstream.ts';
import { startSluice, type Sluice } from '../../support/programs/sluice.ts';
import { makeScratch } from '../../support/scratch.ts';
import { waitUntil } from '../../support/wait.ts';

const SOCKETS = 'type.googleapis.com/envoy.extensions.transport_sockets';
const scratch = makeScratch();

/** A tap around plain bytes that writes to files of this name. */
function tapped(file: string, format: string, output: object, own: object = {}): object {
  const config = {
    match_config: { any_match: true },
    output_config: {
      sinks: [{ format, file_per_tap: { path_prefix: scratch.file(file) } }],
      ...output,
    },
  };
  return {
    name: 'tap',
    typed_config: {
      '@type': `${SOCKETS}.tap.v3.Tap`,
      common_config: { static_config: config },
      socket_tap_config: own,
      transport_socket: {
        name: 'plain',
        typed_config: { '@type': `${SOCKETS}.raw_buffer.v3.RawBuffer` },
      },
    },
  };
}

const proxy = {
  name: 'tcp',
  typed_config: {
    '@type': 'type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy',
    stat_prefix: 'tcp',
    cluster: 'up',
  },
};

interface Body {
  readonly data: { readonly as_string?: string; readonly as_bytes?: string; truncated: boolean };
}

interface Event {
  readonly read?: Body;
  readonly write?: Body;
  readonly closed?: object;
  readonly seq_num: string;
}

interface Trace {
  readonly socket_buffered_trace?: {
    readonly connection: { readonly local_address: { socket_address: { port_value: number } } };
    readonly events: readonly Event[];
    readonly read_truncated: boolean;
    readonly write_truncated: boolean;
  };
  readonly socket_streamed_trace_segment?: { readonly event?: Event };
}

/** The records of the only file of this name, when the last one is there. */
async function recordsOf(file: string, isWhole: (text: string) => boolean): Promise<Trace[]> {
  const text = await waitUntil(`the file of ${file}`, () => {
    const [name] = readdirSync(scratch.path).filter((one) => one.startsWith(`${file}_`));
    const written = name === undefined ? '' : readFileSync(scratch.file(name), 'utf8');
    return isWhole(written) ? written : undefined;
  });
  return JSON.parse(`[${text.replaceAll('\n}\n{', '\n},{')}]`) as Trace[];
}

describe('the tap transport socket', () => {
  let upstream: RawUpstream;
  let sluice: Sluice;

  before(async () => {
    upstream = await startRawUpstream((socket) => {
      socket.on('data', (data: Buffer) => socket.write(`<${data.toString()}>`));
    });
    const text = tapped(
      'down',
      'JSON_BODY_AS_STRING',
      { max_buffered_rx_bytes: 5 },
      { stats_prefix: 'front' },
    );
    sluice = await startSluice({
      bootstrap: bootstrap({
        listeners: [
          {
            name: 'tcp',
            address: { socket_address: { address: '127.0.0.1', port_value: 0 } },
            filter_chains: [{ transport_socket: text, filters: [proxy] }],
          },
        ],
        clusters: [
          staticCluster('up', [upstream.port], {
            transport_socket: tapped('up', 'JSON_BODY_AS_BYTES', { streaming: true }),
          }),
        ],
      }),
    });
    const client = await openRaw(await sluice.listenerPort('tcp'));
    client.send('hello');
    await client.until('<hello>');
    client.send('more');
    await client.until('<more>');
    client.end();
    await client.closed();
  });

  after(async () => {
    await sluice.stop();
    await upstream.close();
    scratch[Symbol.dispose]();
  });

  it('writes one record of a client, with as many bytes as are wanted', async () => {
    const [trace] = await recordsOf('down', (text) => text.endsWith('\n}\n'));
    const { connection, events, ...rest } = trace?.socket_buffered_trace ?? assert.fail();
    const port = await sluice.listenerPort('tcp');
    assert.equal(connection.local_address.socket_address.port_value, port);
    const seen = events.map(({ read, write }) => [read?.data, write?.data]);
    assert.deepEqual(seen, [
      [{ as_string: 'hello', truncated: false }, undefined],
      [undefined, { as_string: '<hello>', truncated: false }],
      [{ as_string: '', truncated: true }, undefined],
      [undefined, { as_string: '<more>', truncated: false }],
    ]);
    assert.deepEqual(
      { truncated: rest.read_truncated, other: rest.write_truncated },
      { truncated: true, other: false },
    );
  });

  it('streams what goes to a host and comes back, counted from the first byte', async () => {
    const traces = await recordsOf(
      'up',
      (text) => text.includes('"closed"') && text.endsWith('}\n'),
    );
    const events = traces.flatMap((trace) => trace.socket_streamed_trace_segment?.event ?? []);
    const seen = events.map(({ read, write, closed, seq_num: place }) => {
      const bytes = (read ?? write)?.data.as_bytes ?? '';
      const what = read === undefined ? (write === undefined ? 'closed' : 'write') : 'read';
      assert.equal(closed !== undefined, what === 'closed');
      return [what, Buffer.from(bytes, 'base64').toString(), place];
    });
    assert.deepEqual(seen, [
      ['write', 'hello', '1'],
      ['read', '<hello>', '6'],
      ['write', 'more', '13'],
      ['read', '<more>', '17'],
      ['closed', '', '24'],
    ]);
  });

  it('counts records by its prefix', async () => {
    assert.equal(await sluice.stat('transport.tap.front.buffered_submit'), 1);
    assert.equal(await sluice.stat('transport.tap.streamed_submit'), 6);
  });
});
