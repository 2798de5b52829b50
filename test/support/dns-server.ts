/** A name server on the loopback interface, over UDP and TCP, that answers A and AAAA from a table that tests change. */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv4, type Server } from 'node:net';

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NAME_UNKNOWN = 3;
const SERVER_FAILURE = 2;

export interface DnsServer {
  readonly port: number;
  /** Names that were asked for, with the type and ` over TCP` where they were, in order. */
  readonly asked: string[];
  /** Addresses of both families by name; `fail` answers SERVFAIL, `silent` nothing. */
  readonly names: Map<string, readonly string[] | 'fail' | 'silent'>;
  ttlS: number;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startDnsServer(
  names: Readonly<Record<string, readonly string[] | 'fail' | 'silent'>>,
): Promise<DnsServer> {
  const { socket, streams, port: boundPort } = await bindBoth();
  const server: DnsServer = {
    port: boundPort,
    asked: [],
    names: new Map(Object.entries(names)),
    ttlS: 30,
    [Symbol.asyncDispose]: async () => {
      socket.close();
      streams.close();
      await once(socket, 'close');
    },
  };
  socket.on('message', (query, { port, address }) => {
    const answer = answerTo(query, server);
    if (answer !== undefined) socket.send(answer, port, address);
  });
  streams.on('connection', (stream) => {
    // A question comes in one piece: it is short.
    stream
      .on('error', () => stream.destroy())
      .on('data', (query: Buffer) => {
        const answer = answerTo(query.subarray(2), server, ' over TCP');
        if (answer === undefined) return;
        const length = Buffer.alloc(2);
        length.writeUInt16BE(answer.length, 0);
        stream.write(Buffer.concat([length, answer]));
      });
  });
  return server;
}

/** UDP and TCP on one port that is free for both. */
async function bindBoth(): Promise<{ socket: Socket; streams: Server; port: number }> {
  for (;;) {
    const socket = createSocket('udp4');
    socket.bind(0, '127.0.0.1');
    await once(socket, 'listening');
    const { port } = socket.address();
    const streams = createServer();
    streams.listen(port, '127.0.0.1');
    const isFree = await once(streams, 'listening').then(
      () => true,
      () => false,
    );
    if (isFree) return { socket, streams, port };
    socket.close();
  }
}

/** The resolver configuration of the API that asks this server. */
export function resolverConfig(server: DnsServer): object {
  return {
    name: 'envoy.network.dns_resolver.cares',
    typed_config: {
      '@type':
        'type.googleapis.com/envoy.extensions.network.dns_resolver.cares.v3.CaresDnsResolverConfig',
      resolvers: [{ socket_address: { address: '127.0.0.1', port_value: server.port } }],
      dns_resolver_options: { no_default_search_domain: true },
      query_timeout_seconds: '1',
      query_tries: 1,
    },
  };
}

function answerTo(query: Buffer, server: DnsServer, how = ''): Buffer | undefined {
  const { name, end } = readName(query);
  const type = query.readUInt16BE(end);
  server.asked.push(`${name} ${type === TYPE_A ? 'A' : 'AAAA'}${how}`);
  const known = server.names.get(name);
  if (known === 'silent') return undefined;
  const addresses = known === undefined || known === 'fail' ? [] : known;
  const records = addresses
    .filter((address) => isIPv4(address) === (type === TYPE_A))
    .filter(() => type === TYPE_A || type === TYPE_AAAA)
    .map((address) => record(address, type, server.ttlS));
  const code = known === undefined ? NAME_UNKNOWN : known === 'fail' ? SERVER_FAILURE : 0;
  const head = Buffer.alloc(12);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(0x8580 | code, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(records.length, 6);
  return Buffer.concat([head, query.subarray(12, end + 4), ...records]);
}

function readName(query: Buffer): { readonly name: string; readonly end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 };
}

function record(address: string, type: number, ttlS: number): Buffer {
  const bytes = addressBytes(address);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE(ttlS, 6);
  head.writeUInt16BE(bytes.length, 10);
  return Buffer.concat([head, bytes]);
}

/** IPv6 addresses without more than one `::`. */
function addressBytes(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split('.').map(Number));
  const [left = '', right = ''] = address.split('::');
  const groups = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const [before, after] = [groups(left), groups(right)];
  const middle = Array.from({ length: 8 - before.length - after.length }, () => 0);
  const bytes = Buffer.alloc(16);
  [...before, ...middle, ...after].forEach((group, at) => bytes.writeUInt16BE(group, at * 2));
  return bytes;
}
