/**
 * Envoy Gateway with the services that it configures its data plane for: the global rate limit
 * with its Redis, and a collector that receives spans and access logs by OpenTelemetry.
 */
import { join } from 'node:path';
import { freePort } from '../../../test/support/free-port.ts';
import { makeScratch } from '../../../test/support/scratch.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { built } from '../../programs/go-programs.ts';
import { check, passed, type Trial, trialOfAll, type TrialOutcome } from '../../programs/trial.ts';
import { bodiesOf, type Collector, spansOf, startCollector } from '../../services/collector.ts';
import { RATE_LIMIT, settingsOf, startRedis } from '../../services/rate-limit.ts';
import { type RealService, startService } from '../../services/real-service.ts';
import type { DataPlane } from '../data-plane.ts';
import { Probe } from './feature.ts';
import { startGateway } from './gateway-plane.ts';
import { backend, backendRef, gateway, httpRoute, object, policy } from './objects.ts';
import { startWorld } from './world.ts';

/** Envoy Gateway's own port for the limits cannot be chosen. */
const LIMITS_PORT = 18_001;
const LIMITED = 3;
const TOLD_LIMIT_MS = 30_000;
const PARENT = { trace: '463ac35c9f6413ad48485a3953bb6124', span: 'a2fb4a1d1a96d312' };
const LOGGED = 'logged: %REQ(:PATH)% %RESPONSE_CODE%';

export function gatewayServiceTrials(proxy: DataPlane): readonly Trial[] {
  const name = `Envoy Gateway with ${proxy}: services`;
  return [trialOfAll(['go', 'redis-server'], name, async () => services(proxy))];
}

async function services(proxy: DataPlane): Promise<TrialOutcome> {
  using scratch = makeScratch();
  const [redisPort, limitsPort, port] = [await freePort(), await freePort(), await freePort()];
  await using world = await startWorld();
  await using collector = await startCollector(scratch);
  await using _redis = await startRedis(redisPort);
  const collectorAt = backend('collector', collector.grpcPort);
  const objects = (certificates: string): readonly object[] => [
    gateway([{ name: 'told', port, protocol: 'HTTP' }]),
    backend('web', world.web.port),
    { ...collectorAt, metadata: { name: 'collector', namespace: 'envoy-gateway-system' } },
    httpRoute('told'),
    globalLimit('told'),
    limitsNearby(limitsPort, join(certificates, 'envoy', 'ca.crt')),
  ];
  await using plane = await startGateway(proxy, objects, { telemetry: telemetry(), redisPort });
  const ports = { redisPort, limitsPort };
  await using limits = await startLimits(plane.certificates, scratch.path, ports);
  const probe = new Probe(port, world);
  const limited = await limitHolds(probe).catch(async (error: unknown) => {
    const counted = await plane.stats('ratelimit');
    throw new Error(`${String(error)}: ${counted} ${limits.output()} ${plane.output()}`);
  });
  await probe.expect({ status: 200 }, '/told', {
    traceparent: `00-${PARENT.trace}-${PARENT.span}-01`,
  });
  const told = await collectorKnows(collector, probe);
  const refused = (await plane.stats('update_rejected')).trim();
  check(refused === '', refused);
  return passed(`${limited}; ${told}`);
}

/** The clients of `x-who: greedy` share a few requests an hour, wherever they ask. */
function globalLimit(name: string): object {
  const clientSelectors = [{ headers: [{ name: 'x-who', value: 'greedy' }] }];
  const rules = [{ clientSelectors, limit: { requests: LIMITED, unit: 'Hour' } }];
  return policy('BackendTrafficPolicy', name, { rateLimit: { type: 'Global', global: { rules } } });
}

/** The service's address and the file of its authority are those of a Kubernetes cluster. */
function limitsNearby(port: number, authority: string): object {
  const address = { socket_address: { address: '127.0.0.1', port_value: port } };
  const cluster_name = 'ratelimit_cluster';
  const endpoints = [{ lb_endpoints: [{ endpoint: { address } }] }];
  const replace = (path: string, value: unknown): object => ({
    type: 'type.googleapis.com/envoy.config.cluster.v3.Cluster',
    name: cluster_name,
    operation: { op: 'replace', path, value },
  });
  const trusted = '/transport_socket/typed_config/common_tls_context/validation_context/trusted_ca';
  return object('gateway.envoyproxy.io/v1alpha1', 'EnvoyPatchPolicy', 'limits-nearby', {
    targetRef: { group: 'gateway.networking.k8s.io', kind: 'Gateway', name: 'tried' },
    type: 'JSONPatch',
    jsonPatches: [
      replace('/load_assignment', { cluster_name, endpoints }),
      replace(`${trusted}/filename`, authority),
    ],
  });
}

function telemetry(): object {
  const backendRefs = [backendRef('collector')];
  const sink = { type: 'OpenTelemetry', openTelemetry: { backendRefs } };
  return {
    tracing: { samplingRate: 100, provider: { type: 'OpenTelemetry', backendRefs } },
    accessLog: { settings: [{ format: { type: 'Text', text: LOGGED }, sinks: [sink] }] },
  };
}

interface LimitPorts {
  readonly redisPort: number;
  readonly limitsPort: number;
}

/** The service takes its limits from the plane over mutual TLS, and requests over TLS. */
async function startLimits(
  certificates: string,
  folder: string,
  { redisPort, limitsPort }: LimitPorts,
): Promise<RealService> {
  const file = (name: string): string => join(certificates, 'envoy-rate-limit', name);
  const settings = {
    ...(await settingsOf(folder, redisPort, limitsPort)),
    CONFIG_TYPE: 'GRPC_XDS_SOTW',
    CONFIG_GRPC_XDS_NODE_ID: 'envoy-ratelimit',
    CONFIG_GRPC_XDS_SERVER_URL: `127.0.0.1:${LIMITS_PORT}`,
    CONFIG_GRPC_XDS_SERVER_USE_TLS: 'true',
    CONFIG_GRPC_XDS_SERVER_TLS_SAN: 'envoy-gateway',
    CONFIG_GRPC_XDS_CLIENT_TLS_CERT: file('tls.crt'),
    CONFIG_GRPC_XDS_CLIENT_TLS_KEY: file('tls.key'),
    CONFIG_GRPC_XDS_SERVER_TLS_CACERT: file('ca.crt'),
    FORCE_START_WITHOUT_INITIAL_CONFIG: 'true',
    GRPC_SERVER_USE_TLS: 'true',
    GRPC_SERVER_TLS_CERT: file('tls.crt'),
    GRPC_SERVER_TLS_KEY: file('tls.key'),
  };
  const command = await built(RATE_LIMIT);
  return startService({ command, env: settings, ports: [limitsPort] });
}

/** Requests pass until the service is there and has counted enough of them; others always pass. */
async function limitHolds(probe: Probe): Promise<string> {
  const greedy = { 'x-who': 'greedy' };
  await waitUntil('the limit', async () => {
    const answer = await probe.ask('/', greedy).catch(() => undefined);
    return answer?.status === 429;
  });
  for (let count = 0; count <= LIMITED; count++) {
    await probe.expect({ status: 429 }, '/', greedy);
    await probe.expect({ status: 200 }, '/', { 'x-who': 'modest' });
  }
  return `more than ${LIMITED} requests an hour are limited`;
}

async function collectorKnows(collector: Collector, probe: Probe): Promise<string> {
  const spans = await waitUntil(
    'the spans',
    () => {
      const ours = spansOf(collector).filter(({ traceId }) => traceId === PARENT.trace);
      return ours.length > 0 ? ours : undefined;
    },
    TOLD_LIMIT_MS,
  );
  const first = spans.find(({ parentSpanId }) => parentSpanId === PARENT.span);
  check(first !== undefined, `no span below the client's among ${spans.length}`);
  const told = String(probe.world.web.requests.at(-1)?.headers['traceparent']);
  const ids = spans.map(({ spanId }) => spanId);
  check(told.includes(PARENT.trace) && ids.some((id) => told.includes(id)), `told: ${told}`);
  const wanted = 'logged: /told 200';
  const lines = await waitUntil(
    'the access log',
    () => {
      const all = bodiesOf(collector);
      return all.some((line) => line.includes(wanted)) ? all : undefined;
    },
    TOLD_LIMIT_MS,
  );
  const limited = lines.filter((line) => line.includes('logged: / 429')).length;
  check(limited > LIMITED, `${limited} lines of limited requests`);
  return `${spans.length} spans of a client's trace, ${lines.length} lines of access log`;
}
