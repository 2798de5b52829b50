/** Istio's discovery server on files, and its data planes, each with certificates of its own. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { freePort } from '../../../test/support/free-port.ts';
import type { TestAuthority } from '../../../test/support/parts/certificates.ts';
import { secretMessage } from '../../../test/support/parts/tls.ts';
import { startControlPlane } from '../../../test/support/peers/control-plane.ts';
import { fetchOnce } from '../../../test/support/peers/http-client.ts';
import { makeScratch } from '../../../test/support/scratch.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { built, type GoProgram } from '../../programs/go-programs.ts';
import { startService } from '../../services/real-service.ts';
import { type DataPlane, proxyCommand } from '../data-plane.ts';
import { startKubeServer } from './kube-server.ts';

const DISCOVERY: GoProgram = {
  module: 'istio.io/istio/pilot/cmd/pilot-discovery',
  version: 'v0.0.0-20260827124520-eed52ebb66ad',
  folder: 'istio-discovery',
};
const START_LIMIT_MS = 90_000;
const SECRET = 'envoy.extensions.transport_sockets.tls.v3.Secret';
/** What it would send needs filters that only its own build of Envoy has. */
const SETTINGS = {
  PILOT_ENABLE_METADATA_EXCHANGE: 'false',
  PILOT_ENABLE_ALPN_FILTER: 'false',
  PILOT_CERT_PROVIDER: 'none',
  ENABLE_CA_SERVER: 'false',
  POD_NAME: 'discovery',
  POD_NAMESPACE: 'istio-system',
};

interface IstioPlane extends AsyncDisposable {
  /** Where data planes ask it. */
  readonly port: number;
}

/** Resolves when it is ready with these objects. */
export async function startIstio(objects: readonly object[]): Promise<IstioPlane> {
  const command = await built(DISCOVERY);
  const scratch = makeScratch();
  mkdirSync(scratch.file('objects'));
  const text = objects.map((object) => JSON.stringify(object)).join('\n---\n');
  writeFileSync(scratch.file('objects/all.yaml'), text);
  writeFileSync(scratch.file('mesh.yaml'), 'trustDomain: cluster.local\n');
  const kube = await startKubeServer();
  writeFileSync(scratch.file('kubeconfig'), kube.config);
  const [port, http] = [await freePort(), await freePort()];
  const options = {
    configDir: scratch.file('objects'),
    meshConfig: scratch.file('mesh.yaml'),
    kubeconfig: scratch.file('kubeconfig'),
    registries: 'Kubernetes',
    grpcAddr: `127.0.0.1:${port}`,
    httpAddr: `127.0.0.1:${http}`,
    monitoringAddr: '127.0.0.1:0',
    secureGRPCAddr: '',
    httpsAddr: '',
    ctrlz_port: '0',
  };
  const words = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  const args = ['discovery', ...words];
  const service = await startService({ command, args, env: SETTINGS, ports: [port] });
  const isReady = async (): Promise<boolean> =>
    (await fetchOnce({ port: http, path: '/ready' }).catch(() => ({ status: 0 }))).status === 200;
  await waitUntil('the discovery server', isReady, START_LIMIT_MS);
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      await service.kill();
      await kube[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    },
  };
}

export interface Sidecar {
  /** Also the name of its account. */
  readonly app: string;
  readonly version: string;
  readonly address: string;
}

interface IstioProxy extends AsyncDisposable {
  readonly stats: (filter: string) => Promise<string>;
  readonly output: () => string;
}

/** Starts a data plane; resolves when it is live. */
export async function startSidecar(
  sidecar: Sidecar,
  plane: IstioPlane,
  authority: TestAuthority,
  proxy: DataPlane,
): Promise<IstioProxy> {
  const scratch = makeScratch();
  const secrets = await startControlPlane();
  secrets.set(SECRET, '1', secretsOf(sidecar, authority));
  const admin = await freePort();
  const path = scratch.file('bootstrap.json');
  writeFileSync(path, JSON.stringify(bootstrapOf(sidecar, admin, plane.port, secrets.port)));
  const [command = '', ...words] = proxyCommand(proxy).split(' ');
  const own = ['--base-id', String(20_000 + (admin % 10_000)), '--concurrency', '1'];
  const args = [...words, '--config-path', path, ...own];
  const service = await startService({ command, args, ports: [admin] });
  const ask = async (of: string): Promise<string> =>
    (await fetchOnce({ port: admin, path: of }).catch(() => ({ body: '' }))).body;
  const isLive = async (): Promise<boolean> => (await ask('/ready')).startsWith('LIVE');
  await waitUntil(`the data plane of ${sidecar.app}`, isLive, START_LIMIT_MS);
  return {
    stats: (filter) => ask(`/stats?usedonly&filter=${encodeURIComponent(filter)}`),
    output: () => service.output(),
    [Symbol.asyncDispose]: async () => {
      await service.kill('SIGTERM');
      await secrets[Symbol.asyncDispose]();
      scratch[Symbol.dispose]();
    },
  };
}

function secretsOf({ app, version }: Sidecar, authority: TestAuthority): readonly object[] {
  const san = `URI:spiffe://cluster.local/ns/default/sa/${app}`;
  const { cert, key } = authority.issue(`${app}-${version}`, san);
  return [
    secretMessage('default', {
      tls_certificate: {
        certificate_chain: { inline_string: cert },
        private_key: { inline_string: key },
      },
    }),
    secretMessage('ROOTCA', {
      validation_context: { trusted_ca: { inline_string: authority.cert } },
    }),
  ];
}

function bootstrapOf(
  { app, version, address }: Sidecar,
  admin: number,
  discovery: number,
  secrets: number,
): object {
  const source = { ads: {}, resource_api_version: 'V3' };
  return {
    node: {
      id: `sidecar~${address}~${app}-${version}.default~default.svc.cluster.local`,
      cluster: `${app}.default`,
      metadata: {
        NAMESPACE: 'default',
        LABELS: { app, version },
        SERVICE_ACCOUNT: app,
        CLUSTER_ID: 'Kubernetes',
        INTERCEPTION_MODE: 'NONE',
        INSTANCE_IPS: address,
      },
    },
    admin: { address: { socket_address: { address: '127.0.0.1', port_value: admin } } },
    dynamic_resources: {
      lds_config: source,
      cds_config: source,
      ads_config: {
        api_type: 'DELTA_GRPC',
        transport_api_version: 'V3',
        set_node_on_first_message_only: true,
        grpc_services: [{ envoy_grpc: { cluster_name: 'xds-grpc' } }],
      },
    },
    static_resources: {
      clusters: [grpcCluster('xds-grpc', discovery), grpcCluster('sds-grpc', secrets)],
    },
  };
}

function grpcCluster(name: string, port: number): object {
  const type = 'envoy.extensions.upstreams.http.v3.HttpProtocolOptions';
  const address = { socket_address: { address: '127.0.0.1', port_value: port } };
  return {
    name,
    connect_timeout: '1s',
    typed_extension_protocol_options: {
      [type]: {
        '@type': `type.googleapis.com/${type}`,
        explicit_http_config: { http2_protocol_options: {} },
      },
    },
    load_assignment: {
      cluster_name: name,
      endpoints: [{ lb_endpoints: [{ endpoint: { address } }] }],
    },
  };
}
