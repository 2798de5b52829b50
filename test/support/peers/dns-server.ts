/**
 * A name server on the loopback interface, over UDP and TCP, that answers A and AAAA from a table
 * that tests change.
 */
import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, isIPv4, type Server } from 'node:net';
import {
  AUTHORITATIVE_ANSWER,
  decode,
  encode,
  RECURSION_AVAILABLE,
  RECURSION_DESIRED,
} from 'dns-packet';

const NAME_UNKNOWN = 3;
const SERVER_FAILURE = 2;

/**
 * Addresses of both families; `fail` answers SERVFAIL, `silent` nothing, `held` over UDP when it is
 * told.
 */
type Known = readonly string[] | 'fail' | 'silent' | 'held';

export interface DnsServer {
  readonly port: number;
  /** Names that were asked for, with the type and ` over TCP` where they were, in order. */
  readonly asked: string[];
  /** By name, in lower case. */
  readonly names: Map<string, Known>;
  ttlS: number;
  /** Answers the questions for names that were `held`, as the table is now. */
  release(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startDnsServer(names: Readonly<Record<string, Known>>): Promise<DnsServer> {
  const { socket, streams, port: boundPort } = await bindBoth();
  const held: (() => void)[] = [];
  const server: DnsServer = {
    port: boundPort,
    asked: [],
    names: new Map(Object.entries(names)),
    ttlS: 30,
    release: () => {
      for (const answer of held.splice(0)) answer();
    },
    [Symbol.asyncDispose]: async () => {
      socket.close();
      streams.close();
      await once(socket, 'close');
    },
  };
  socket.on('message', (query, { port, address }) => {
    const reply = (): void => {
      const answer = answerTo(query, server);
      if (answer === 'held') held.push(reply);
      else if (answer !== undefined) socket.send(answer, port, address);
    };
    reply();
  });
  streams.on('connection', (stream) => {
    // A question comes in one piece: it is short.
    stream
      .on('error', () => stream.destroy())
      .on('data', (query: Buffer) => {
        const answer = answerTo(query.subarray(2), server, ' over TCP');
        if (answer === undefined || answer === 'held') return;
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
      query_timeout_seconds: '5',
      query_tries: 1,
    },
  };
}

function answerTo(query: Buffer, server: DnsServer, how = ''): Buffer | 'held' | undefined {
  const { id, questions = [] } = decode(query);
  const [{ name, type } = { name: '', type: 'A' as const }] = questions;
  server.asked.push(`${name.toLowerCase()} ${type}${how}`);
  const known = server.names.get(name.toLowerCase());
  if (known === 'silent') return undefined;
  if (known === 'held') return known;
  const addresses = known === undefined || known === 'fail' ? [] : known;
  const answers = addresses
    .filter((address) => type === (isIPv4(address) ? 'A' : 'AAAA'))
    .map((data) => ({ type: type as 'A', name, ttl: server.ttlS, data }));
  const code = known === undefined ? NAME_UNKNOWN : known === 'fail' ? SERVER_FAILURE : 0;
  const flags = AUTHORITATIVE_ANSWER | RECURSION_DESIRED | RECURSION_AVAILABLE | code;
  return encode({
    type: 'response',
    ...(id === undefined ? {} : { id }),
    flags,
    questions,
    answers,
  });
}
