/** What Kuma's policies do, each with a change of its resources and a probe from outside. */
import tls from 'node:tls';
import type { Answer } from '../../../test/support/peers/http-client.ts';
import type { HttpUpstream } from '../../../test/support/peers/upstream.ts';
import { check } from '../../programs/trial.ts';
import type { KumaPlane } from './kuma-plane.ts';

export interface KumaMesh {
  readonly plane: KumaPlane;
  /** The hosts behind the two versions of `api`, which answer their name. */
  readonly one: HttpUpstream;
  readonly two: HttpUpstream;
  /** The port of the first version's data plane. */
  readonly inbound: number;
  /** Asks through the data plane of `web`, or through the gateway. */
  ask(
    way: 'api' | 'outside' | 'edge',
    path?: string,
    headers?: Record<string, string>,
  ): Promise<Answer>;
}

export interface KumaFeature {
  readonly name: string;
  change?(mesh: KumaMesh): Promise<void>;
  /** Rejects with what was wrong. Tried again for a while. */
  probe(mesh: KumaMesh): Promise<void>;
}

const SPLIT_REQUESTS = 20;

function between(source: string, destination: string): object {
  return {
    sources: [{ match: { 'kuma.io/service': source } }],
    destinations: [{ match: { 'kuma.io/service': destination } }],
  };
}

function toVersion(version: string): object {
  return { destination: { 'kuma.io/service': 'api', version } };
}

async function isAnswered(
  mesh: KumaMesh,
  way: 'api' | 'outside' | 'edge',
  wanted: { readonly status: number; readonly body?: string },
  path = '/',
): Promise<void> {
  const { status, body } = await mesh.ask(way, path);
  check(status === wanted.status, `${path}: ${status} ${body.slice(0, 100)}`);
  check(wanted.body === undefined || body === wanted.body, `${path}: ${body.slice(0, 100)}`);
}

async function bodies(mesh: KumaMesh): Promise<string> {
  const seen = new Set<string>();
  for (let count = 0; count < SPLIT_REQUESTS; count++) seen.add((await mesh.ask('api')).body);
  return [...seen].toSorted().join();
}

/** The identity in the certificate that a data plane shows; it asks for one of the client. */
function identityOf(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { port, host: '127.0.0.1', rejectUnauthorized: false };
    const socket = tls.connect({ ...options, maxVersion: 'TLSv1.2' });
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      resolve(String(socket.getPeerCertificate().subjectaltname));
      socket.destroy();
    });
  });
}

export const KUMA_FEATURES: readonly KumaFeature[] = [
  {
    name: 'both versions over mutual TLS',
    async probe(mesh) {
      const seen = await bodies(mesh);
      check(seen === 'one,two', seen);
    },
  },
  {
    name: 'no certificate',
    async probe({ inbound }) {
      const shown = await identityOf(inbound).catch(String);
      check(/error/i.test(shown), `a client without a certificate is shown ${shown}`);
    },
  },
  {
    name: 'external service',
    probe: (mesh) => isAnswered(mesh, 'outside', { status: 200, body: 'outside' }),
  },
  { name: 'gateway', probe: (mesh) => isAnswered(mesh, 'edge', { status: 200 }) },
  {
    name: 'retries',
    change: ({ plane }) =>
      plane.put('/retries/api', {
        type: 'Retry',
        name: 'api',
        ...between('web', 'api'),
        conf: { http: { numRetries: 2, retriableStatusCodes: [500] } },
      }),
    probe: (mesh) => isAnswered(mesh, 'api', { status: 200 }, `/flaky/${Math.random()}`),
  },
  {
    name: 'health checks',
    change: ({ plane }) =>
      plane.put('/health-checks/api', {
        type: 'HealthCheck',
        name: 'api',
        ...between('web', 'api'),
        conf: {
          interval: '0.2s',
          timeout: '1s',
          unhealthyThreshold: 1,
          healthyThreshold: 1,
          http: { path: '/healthy', expectedStatuses: [200] },
        },
      }),
    async probe(mesh) {
      await isAnswered(mesh, 'api', { status: 200 });
      const isChecked = mesh.one.requests.some(({ path }) => path === '/healthy');
      check(isChecked, 'no check has come');
    },
  },
  {
    name: 'routes by path and version',
    change: ({ plane }) =>
      plane.put('/traffic-routes/api', {
        type: 'TrafficRoute',
        name: 'api',
        ...between('web', 'api'),
        conf: {
          http: [{ match: { path: { prefix: '/second' } }, ...toVersion('two') }],
          ...toVersion('one'),
        },
      }),
    async probe(mesh) {
      check((await bodies(mesh)) === 'one', 'the default');
      await isAnswered(mesh, 'api', { status: 200, body: 'two' }, '/second');
    },
  },
  {
    name: 'faults',
    change: ({ plane }) =>
      plane.put('/fault-injections/api', {
        type: 'FaultInjection',
        name: 'api',
        sources: [{ match: { 'kuma.io/service': 'web', 'kuma.io/protocol': 'http' } }],
        destinations: [
          { match: { 'kuma.io/service': 'api', 'kuma.io/protocol': 'http', version: 'two' } },
        ],
        conf: { abort: { percentage: 100, httpStatus: 418 } },
      }),
    async probe(mesh) {
      await isAnswered(mesh, 'api', { status: 418 }, '/second');
      await isAnswered(mesh, 'api', { status: 200 });
    },
  },
  {
    name: 'permissions refuse',
    async change({ plane }) {
      await plane.put('/traffic-permissions/edge', {
        type: 'TrafficPermission',
        name: 'edge',
        ...between('edge', 'api'),
      });
      await plane.remove('/traffic-permissions/allow-all-default');
    },
    async probe(mesh) {
      await isAnswered(mesh, 'edge', { status: 200 });
      await isAnswered(mesh, 'api', { status: 503 });
    },
  },
  {
    name: 'permissions allow',
    change: ({ plane }) =>
      plane.put('/traffic-permissions/web', {
        type: 'TrafficPermission',
        name: 'web',
        ...between('web', 'api'),
      }),
    probe: (mesh) => isAnswered(mesh, 'api', { status: 200 }),
  },
  {
    name: 'health of a service is told to the plane',
    change: ({ one }) => one[Symbol.asyncDispose](),
    async probe({ plane }) {
      check((await isReady(plane, 'api-two')) === true, 'a service that is there is not ready');
      check((await isReady(plane, 'api-one')) !== true, 'a service that is gone is ready');
    },
  },
];

/** What the plane knows by health discovery. */
async function isReady(plane: KumaPlane, name: string): Promise<boolean | undefined> {
  const { dataplane } = JSON.parse(await plane.get(`/dataplanes+insights/${name}`)) as Insight;
  return dataplane.networking.inbound[0]?.health?.ready;
}

interface Insight {
  readonly dataplane: {
    readonly networking: {
      readonly inbound: readonly { readonly health?: { readonly ready?: boolean } }[];
    };
  };
}
