/** Features of other routes than HTTPRoute, and of TLS on both sides. */
import { askSecurely } from '../../../test/support/parts/tls.ts';
import { openHttp2 } from '../../../test/support/peers/http2-client.ts';
import { openRaw } from '../../../test/support/peers/raw-client.ts';
import { openDatagramClient } from '../../../test/support/peers/services/datagrams.ts';
import { framed } from '../../../test/support/peers/services/grpc-peer.ts';
import { within } from '../../../test/support/wait.ts';
import { check } from '../../programs/trial.ts';
import type { Feature } from './feature.ts';
import {
  backend,
  backendRef,
  configMap,
  httpRoute,
  listenerPolicy,
  object,
  routeOf,
  secret,
} from './objects.ts';
import type { World } from './world.ts';

const ANSWER_LIMIT_MS = 5_000;

function certificate(world: World, name: string): object {
  const { cert, key } = world.authority.issue(name, `DNS:${name}.test`);
  return secret(name, { 'tls.crt': cert, 'tls.key': key }, 'kubernetes.io/tls');
}

function terminated(name: string): object {
  return { protocol: 'HTTPS', tls: { mode: 'Terminate', certificateRefs: [{ name }] } };
}

/** With a rule to a host that is not HTTP. */
function plainRoute(kind: string, name: string, host: string): object {
  return routeOf(kind, name, { rules: [{ backendRefs: [backendRef(host)] }] });
}

export const PROTOCOLS: readonly Feature[] = [
  {
    name: 'grpc',
    objects: () => [
      routeOf('GRPCRoute', 'grpc', {
        rules: [
          {
            matches: [{ method: { service: 'tried.Echo', method: 'Say' } }],
            backendRefs: [backendRef('echo')],
          },
        ],
      }),
    ],
    async probe({ port }) {
      await using client = await openHttp2(port);
      const headers = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };
      const call = { ...headers, ':authority': 'tried.test', ':path': '/tried.Echo/Say' };
      const answer = await client.ask(call, framed('echoed'));
      check(answer.body.endsWith('echoed'), answer.body);
      check(answer.trailers['grpc-status'] === '0', 'grpc-status');
      const other = await client.ask({ ...call, ':path': '/tried.Echo/Else' });
      check(other.status === 404 || other.headers['grpc-status'] === '12', `${other.status}`);
    },
  },
  {
    name: 'tcp',
    listener: { protocol: 'TCP', allowedRoutes: { kinds: [{ kind: 'TCPRoute' }] } },
    objects: () => [plainRoute('TCPRoute', 'tcp', 'web')],
    async probe({ port }) {
      const connection = await openRaw(port);
      connection.send('GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
      check((await connection.closed()).startsWith('HTTP/1.1 200'), 'no answer');
    },
  },
  {
    name: 'udp',
    listener: { protocol: 'UDP', allowedRoutes: { kinds: [{ kind: 'UDPRoute' }] } },
    objects: () => [plainRoute('UDPRoute', 'udp', 'datagrams')],
    async probe({ port }) {
      await using client = await openDatagramClient(port);
      const answer = await within('a datagram', client.ask('hello'), ANSWER_LIMIT_MS);
      check(answer === 'back: hello', answer);
    },
  },
  {
    name: 'tls-passed',
    listener: { protocol: 'TLS', tls: { mode: 'Passthrough' } },
    objects: () => [
      routeOf('TLSRoute', 'tls-passed', {
        rules: [{ backendRefs: [backendRef('secure')] }],
        hostnames: ['secure.test'],
      }),
    ],
    async probe({ port }) {
      const { name } = await askOverTls(port, 'secure.test');
      check(name === 'secure', `certificate of ${name}`);
      check((await askSecurely(port, { servername: 'else.test' })).text === '', 'another name');
    },
  },
  {
    name: 'https',
    listener: terminated('https'),
    objects: (world) => [certificate(world, 'https'), httpRoute('https')],
    async probe({ port }) {
      const { text, name } = await askSecurely(port, { servername: 'https.test' });
      check(name === 'https' && text.endsWith('web'), `${name}: ${text}`);
      await using client = await openHttp2(`https://127.0.0.1:${port}`, {
        rejectUnauthorized: false,
        servername: 'https.test',
      });
      check((await client.ask({ ':path': '/' })).body === 'web', 'HTTP/2');
    },
  },
  {
    name: 'mutual',
    listener: terminated('mutual'),
    objects: (world) => [
      certificate(world, 'mutual'),
      secret('clients', { 'ca.crt': world.authority.cert }),
      httpRoute('mutual'),
      listenerPolicy('mutual', {
        tls: {
          clientValidation: { caCertificateRefs: [{ kind: 'Secret', group: '', name: 'clients' }] },
        },
        headers: { xForwardedClientCert: { mode: 'AppendForward', certDetailsToAdd: ['Subject'] } },
      }),
    ],
    async probe({ port, world }) {
      const servername = 'mutual.test';
      check((await askSecurely(port, { servername })).text === '', 'without a certificate');
      const { cert, key } = world.authority.issue('client', 'DNS:client.test');
      const { text } = await askSecurely(port, { servername, cert, key });
      check(text.endsWith('web'), `with one: ${text}`);
      const seen = String(world.web.requests.at(-1)?.headers['x-forwarded-client-cert']);
      check(seen.includes('CN=client'), seen);
    },
  },
  {
    name: 'backend-tls',
    objects: ({ authority, securePort }) => [
      configMap('authorities', { 'ca.crt': authority.cert }),
      backend('over-tls', securePort),
      object('gateway.networking.k8s.io/v1', 'BackendTLSPolicy', 'over-tls', {
        targetRefs: [{ group: 'gateway.envoyproxy.io', kind: 'Backend', name: 'over-tls' }],
        validation: {
          hostname: 'secure.test',
          caCertificateRefs: [{ group: '', kind: 'ConfigMap', name: 'authorities' }],
        },
      }),
      httpRoute('backend-tls', { backendRefs: [backendRef('over-tls')] }),
    ],
    async probe(probe) {
      await probe.expect({ status: 200, body: 'secure' });
    },
  },
];

async function askOverTls(port: number, servername: string): Promise<{ readonly name: string }> {
  const { default: tls } = await import('node:tls');
  const socket = tls.connect({ port, host: '127.0.0.1', servername, rejectUnauthorized: false });
  try {
    await within(
      'TLS',
      new Promise((resolve, reject) => {
        socket.once('secureConnect', resolve);
        socket.once('error', reject);
      }),
      ANSWER_LIMIT_MS,
    );
    return { name: String(socket.getPeerCertificate().subject.CN) };
  } finally {
    socket.destroy();
  }
}
