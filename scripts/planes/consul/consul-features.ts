/** What Consul's services do, each probed for its effect from outside. */
import { askSecurely } from '../../../test/support/parts/tls.ts';
import { bearer } from '../../../test/support/parts/tokens.ts';
import { type Answer, type Ask, fetchOnce } from '../../../test/support/peers/http-client.ts';
import { openHttp2 } from '../../../test/support/peers/http2-client.ts';
import { openRaw } from '../../../test/support/peers/raw-client.ts';
import { framed } from '../../../test/support/peers/services/grpc-peer.ts';
import { check } from '../../programs/trial.ts';
import type { ConsulAgent } from './consul-agent.ts';
import { intention } from './consul-objects.ts';
import type { ConsulWorld, PortName } from './consul-world.ts';

const ANSWER_LIMIT_MS = 5_000;
const SPLIT_REQUESTS = 40;

export interface ConsulFeature {
  readonly name: string;
  /** A change before the probe. */
  change?(agent: ConsulAgent): Promise<void>;
  /** Rejects with what was wrong. Tried again until it is right or its time is over. */
  probe(mesh: Mesh): Promise<void>;
}

export class Mesh {
  readonly agent: ConsulAgent;
  readonly world: ConsulWorld;

  constructor(agent: ConsulAgent, world: ConsulWorld) {
    this.agent = agent;
    this.world = world;
  }

  /** As the application of `web` asks its data plane. */
  ask(path: string, headers: Ask['headers'] = {}, at: PortName = 'apiAt'): Promise<Answer> {
    return fetchOnce({ port: this.world.ports[at], path, headers }, ANSWER_LIMIT_MS);
  }

  async expect(
    wanted: Partial<Pick<Answer, 'status' | 'body'>>,
    path: string,
    headers: Ask['headers'] = {},
    at: PortName = 'apiAt',
  ): Promise<Answer> {
    const answer = await this.ask(path, headers, at);
    const { status, body } = { status: answer.status, body: answer.body, ...wanted };
    const said = `${path}: ${answer.status} ${answer.body.slice(0, 200)}`;
    check(answer.status === status && answer.body === body, said);
    return answer;
  }
}

const ROUTES: readonly ConsulFeature[] = [
  {
    name: 'http and splitter',
    async probe(mesh) {
      const seen = new Map<string, number>();
      for (let count = 0; count < SPLIT_REQUESTS; count++) {
        const { body, headers } = await mesh.expect({ status: 200 }, '/');
        check((headers['x-split'] === 'one') === (body === 'one'), `${body}: x-split`);
        seen.set(body, (seen.get(body) ?? 0) + 1);
      }
      const said = JSON.stringify([...seen]);
      check((seen.get('one') ?? 0) > 5 && (seen.get('two') ?? 0) > 5, said);
    },
  },
  {
    name: 'router by header and query',
    async probe(mesh) {
      for (let count = 0; count < 5; count++) {
        await mesh.expect({ body: 'two' }, '/', { 'x-canary': 'yes' });
        await mesh.expect({ body: 'two' }, '/?version=two');
      }
    },
  },
  {
    name: 'router: prefix rewrite and header changes',
    async probe(mesh) {
      const { headers } = await mesh.expect({ body: 'one' }, '/old/part');
      check(headers['x-path'] === '/new/part', String(headers['x-path']));
      await mesh.expect({ body: 'one' }, '/heads/abc', { 'x-removed': 'x' });
      const sent = mesh.world.one.requests.at(-1)?.headers ?? {};
      check(sent['x-added'] === 'here' && sent['x-removed'] === undefined, JSON.stringify(sent));
    },
  },
  {
    name: 'router: retries',
    probe: async (mesh) => void (await mesh.expect({ status: 200 }, `/flaky/${Math.random()}`)),
  },
  {
    name: 'router: timeout',
    probe: async (mesh) => void (await mesh.expect({ status: 504 }, '/slow')),
  },
  {
    name: 'failover',
    probe: async (mesh) => void (await mesh.expect({ body: 'two' }, '/', {}, 'ledgerAt')),
  },
];

const RULES: readonly ConsulFeature[] = [
  {
    name: 'intentions by path',
    async probe(mesh) {
      await mesh.expect({ status: 403, body: 'RBAC: access denied' }, '/secret/part');
      await mesh.expect({ status: 403 }, '/other/../secret');
    },
  },
  {
    name: 'intentions by token',
    async probe(mesh) {
      const exp = Math.floor(Date.now() / 1000) + 600;
      const token = (role: string): Record<string, string> =>
        bearer(mesh.world.signer.sign({ iss: 'tried', exp, role }));
      await mesh.expect({ status: 403 }, '/jwt/none');
      await mesh.expect({ status: 403 }, '/jwt/guest', token('guest'));
      await mesh.expect({ status: 403 }, '/jwt/broken', bearer('no.token.here'));
      await mesh.expect({ status: 200 }, '/jwt/admin', token('admin'));
    },
  },
  {
    name: 'intentions of connections: allowed',
    probe: ({ world }) => speaksToDatabase(world),
  },
  {
    name: 'intentions of connections: denied',
    change: (agent) => agent.put('/config', intention('db', 'deny')),
    async probe({ world }) {
      const answer = await speaksToDatabase(world).catch(() => 'refused');
      check(answer === 'refused', 'the database answers');
    },
  },
  {
    name: 'intentions of connections: allowed again',
    change: (agent) => agent.put('/config', intention('db', 'allow')),
    probe: ({ world }) => speaksToDatabase(world),
  },
];

const GATEWAYS: readonly ConsulFeature[] = [
  {
    name: 'ingress gateway',
    async probe(mesh) {
      await mesh.expect({ status: 200 }, '/', { host: 'api.test' }, 'ingressAt');
      await mesh.expect({ status: 404 }, '/', { host: 'other.test' }, 'ingressAt');
    },
  },
  {
    name: 'terminating gateway',
    probe: async (mesh) => void (await mesh.expect({ body: 'outside' }, '/', {}, 'outsideAt')),
  },
  {
    name: 'mesh gateway',
    async probe({ agent, world }) {
      const { TrustDomain } = (await agent.get('/connect/ca/roots')) as { TrustDomain: string };
      const leaf = (await agent.get('/agent/connect/ca/leaf/web')) as Leaf;
      const servername = `greeter.default.dc1.internal.${TrustDomain}`;
      const identity = { cert: leaf.CertPEM, key: leaf.PrivateKeyPEM };
      await using client = await openHttp2(`https://127.0.0.1:${world.ports.mesh}`, {
        ...identity,
        rejectUnauthorized: false,
        servername,
      });
      await echoes(client);
      const without = await askSecurely(world.ports.mesh, { servername, ALPNProtocols: ['h2'] });
      check(without.text === '', 'without a certificate');
    },
  },
];

interface Leaf {
  readonly CertPEM: string;
  readonly PrivateKeyPEM: string;
}

const PROTOCOLS: readonly ConsulFeature[] = [
  {
    name: 'grpc',
    async probe({ world }) {
      await using client = await openHttp2(world.ports.greeterAt);
      await echoes(client);
    },
  },
  {
    name: 'identity of the caller',
    async probe(mesh) {
      await mesh.expect({ body: 'two' }, '/', { 'x-canary': 'yes' });
      const sent = mesh.world.two.requests.at(-1)?.headers ?? {};
      const said = String(sent['x-forwarded-client-cert']);
      check(said.includes('/dc/dc1/svc/web'), said);
    },
  },
];

export const CONSUL_FEATURES: readonly ConsulFeature[] = [
  ...ROUTES,
  ...PROTOCOLS,
  ...RULES,
  ...GATEWAYS,
];

async function echoes(client: Awaited<ReturnType<typeof openHttp2>>): Promise<void> {
  const head = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };
  const answer = await client.ask({ ...head, ':path': '/tried.Echo/Say' }, framed('echoed'));
  const said = `${answer.status} ${JSON.stringify(answer.headers)}`;
  check(answer.body.endsWith('echoed') && answer.trailers['grpc-status'] === '0', said);
}

async function speaksToDatabase({ ports }: ConsulWorld): Promise<void> {
  const client = await openRaw(ports.dbAt);
  try {
    client.send('word');
    await client.until('db:word', ANSWER_LIMIT_MS);
  } finally {
    client.destroy();
  }
}
