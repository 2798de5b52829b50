/**
 * Envoy Gateway, standalone: its resources are files of a folder, and it starts the data plane
 * itself. That is a program at the path where it keeps downloaded versions of Envoy; here a script
 * stands there, which starts the proxy that is tried.
 */
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../../test/support/free-port.ts';
import { fetchOnce } from '../../../test/support/peers/http-client.ts';
import { makeScratch } from '../../../test/support/scratch.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { built, type GoProgram } from '../../programs/go-programs.ts';
import { runProgram } from '../../programs/trial.ts';
import { startService } from '../../services/real-service.ts';
import { type DataPlane, isRunning, proxyCommand, readText } from '../data-plane.ts';

const GATEWAY: GoProgram = {
  module: 'github.com/envoyproxy/gateway/cmd/envoy-gateway',
  version: 'v1.9.1',
  folder: 'envoy-gateway',
};
/** What it believes to start; nothing is downloaded. */
const VERSION = '1.39.1';
/** Envoy Gateway's own port for data planes cannot be chosen. */
const XDS_PORT = 18_000;
const START_LIMIT_MS = 90_000;
const STOP_LIMIT_MS = 10_000;
const KEPT_OUTPUT = 2_000;

export interface GatewayPlane extends AsyncDisposable {
  /** Writes objects into a file of that name, in one step. */
  apply(name: string, objects: readonly object[]): void;
  /** Statistics of the proxy that are not zero and whose names fit. */
  stats(filter: string): Promise<string>;
  /** Starts the next epoch of the data plane; resolves when it is live. */
  restart(): Promise<void>;
  /** The process that was started as the data plane, above all others of it. */
  readonly pid: number;
  /** A folder with one folder for each part: the authority's certificate, its own and its key. */
  readonly certificates: string;
  /** The end of what plane and proxy said. */
  output(): string;
}

/** What a plane may have beside its objects. */
export interface GatewayFields {
  /** `telemetry` of the EnvoyProxy. */
  readonly telemetry?: object;
  /** The port of the Redis behind global rate limits. */
  readonly redisPort?: number;
}

/**
 * Resolves when the data plane has its first listeners. The objects may name files of certificates,
 * which stand in a folder for each part of the plane.
 */
export async function startGateway(
  proxy: DataPlane,
  given: readonly object[] | ((certificates: string) => readonly object[]),
  fields: GatewayFields = {},
): Promise<GatewayPlane> {
  const program = await built(GATEWAY);
  const scratch = makeScratch();
  const baseId = String(20_000 + ((await freePort()) % 10_000));
  const home = (name: string): string => scratch.file(name);
  for (const name of ['config', 'data', 'state', 'run', 'objects']) {
    mkdirSync(home(name), { recursive: true });
  }
  const envoy = join(home('data'), 'envoy-versions', VERSION, 'bin', 'envoy');
  const addressPath = home('admin-address');
  const pidPath = home('pid');
  mkdirSync(dirname(envoy), { recursive: true });
  writeFileSync(envoy, startScript({ proxy, baseId, addressPath, pidPath }));
  chmodSync(envoy, 0o755);
  writeFileSync(home('gateway.yaml'), JSON.stringify(settings(home, fields)));
  const certificates = join(home('config'), 'certs');
  const objects = typeof given === 'function' ? given(certificates) : given;
  const common = proxyObjects(fields);
  const apply = (name: string, all: readonly object[]): void => {
    const path = join(home('objects'), `${name}.yaml`);
    writeFileSync(home('next.yaml'), all.map((object) => JSON.stringify(object)).join('\n---\n'));
    renameSync(home('next.yaml'), path);
  };
  apply('objects', [...common, ...objects]);
  await runProgram(program, ['certgen', '--local', '--config-home', home('config')]);
  const service = await startService({
    command: program,
    args: ['server', '--config-path', home('gateway.yaml')],
    ports: [XDS_PORT],
  });
  const stop = async (): Promise<void> => {
    // It ends its data plane, or leaves that behind when it had not begun to watch it.
    await Promise.race([service.kill('SIGTERM'), delay(STOP_LIMIT_MS)]);
    const pid = Number(readText(pidPath));
    if (pid > 0 && isRunning(pid)) process.kill(pid, 'SIGKILL');
    await service.kill();
    scratch[Symbol.dispose]();
  };
  const admin = async (path: string): Promise<string> => {
    const port = Number(readText(addressPath).split(':').at(-1));
    return port > 0 ? (await fetchOnce({ port, path })).body : '';
  };
  const isLive = async (): Promise<boolean> => {
    if (service.output().includes('failed to load resources')) throw new Error('its objects');
    return (await admin('/ready').catch(() => '')).startsWith('LIVE');
  };
  try {
    await waitUntil('the data plane', isLive, START_LIMIT_MS);
  } catch (error) {
    const said = `${service.output()} ${ends(home('state'))} ${await admin('/init_dump').catch(String)}`;
    await stop();
    throw new Error(`${String(error)}: ${said}`, { cause: error });
  }
  return {
    certificates,
    pid: Number(readText(pidPath)),
    apply: (name, all) => apply(name, name === 'objects' ? [...common, ...all] : all),
    stats: (filter) => admin(`/stats?usedonly&filter=${encodeURIComponent(filter)}`),
    restart: async () => {
      const epoch = async (): Promise<number> =>
        Number(
          /restart_epoch: (\d+)/.exec(
            await admin('/stats?filter=restart_epoch').catch(() => ''),
          )?.[1] ?? -1,
        );
      const before = await epoch();
      process.kill(Number(readFileSync(pidPath, 'utf8')), 'SIGHUP');
      await waitUntil('the next epoch', async () => (await epoch()) > before && (await isLive()));
    },
    output: () => service.output(),
    [Symbol.asyncDispose]: stop,
  };
}

/** The ends of what the data planes of a run said. */
function ends(state: string): string {
  return readdirSync(state, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('stderr.log'))
    .map((name) => readText(join(state, name)).slice(-KEPT_OUTPUT))
    .join();
}

interface Start {
  readonly proxy: DataPlane;
  readonly baseId: string;
  readonly addressPath: string;
  readonly pidPath: string;
}

function startScript({ proxy, baseId, addressPath, pidPath }: Start): string {
  const own = `--base-id ${baseId} --admin-address-path ${addressPath} --drain-time-s 1`;
  return `#!/bin/sh
echo $$ > ${pidPath}
left=
for word; do
  shift
  case "$left$word" in
    --) left=all ;; # what follows is for the launcher, and Envoy does not read it
    --drain-time-s | --admin-address-path) left=one ;;
    one*) left= ;;
    all*) ;;
    *) set -- "$@" "$word" ;;
  esac
done
exec ${proxyCommand(proxy)} "$@" ${own}
`;
}

function settings(home: (name: string) => string, { redisPort }: GatewayFields): object {
  const redis = { type: 'Redis', redis: { url: `redis://127.0.0.1:${redisPort}` } };
  return {
    ...(redisPort !== undefined && { rateLimit: { backend: redis } }),
    apiVersion: 'gateway.envoyproxy.io/v1alpha1',
    kind: 'EnvoyGateway',
    gateway: { controllerName: CONTROLLER },
    provider: {
      type: 'Custom',
      custom: {
        resource: { type: 'File', file: { paths: [home('objects')] } },
        infrastructure: {
          type: 'Host',
          host: {
            configHome: home('config'),
            dataHome: home('data'),
            stateHome: home('state'),
            runtimeDir: home('run'),
          },
        },
      },
    },
    extensionApis: { enableBackend: true, enableLua: true, enableEnvoyPatchPolicy: true },
    logging: { level: { default: 'error' } },
  };
}

const CONTROLLER = 'gateway.envoyproxy.io/gatewayclass-controller';

function proxyObjects({ telemetry }: GatewayFields): readonly object[] {
  const group = 'gateway.envoyproxy.io';
  const name = 'proxy';
  return [
    {
      apiVersion: `${group}/v1alpha1`,
      kind: 'EnvoyProxy',
      metadata: { name, namespace: 'envoy-gateway-system' },
      spec: { provider: { type: 'Host', host: { envoyVersion: VERSION } }, telemetry },
    },
    {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'GatewayClass',
      metadata: { name: 'tried' },
      spec: {
        controllerName: CONTROLLER,
        parametersRef: { group, kind: 'EnvoyProxy', name, namespace: 'envoy-gateway-system' },
      },
    },
  ];
}
