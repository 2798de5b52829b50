/** Consul as a development agent: its server, catalog and certificate authority in one process. */
import { writeFileSync } from 'node:fs';
import { freePort } from '../../../test/support/free-port.ts';
import { fetchOnce } from '../../../test/support/peers/http-client.ts';
import { makeScratch } from '../../../test/support/scratch.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { built, type GoProgram } from '../../programs/go-programs.ts';
import { check } from '../../programs/trial.ts';
import { startService } from '../../services/real-service.ts';

const CONSUL: GoProgram = {
  module: 'github.com/hashicorp/consul',
  version: 'v1.20.6',
  folder: 'consul',
  sums: [
    ' h1:eR9c/s/EObDfbLcpIlz1TMRVChT3n1zfeu4JIBTKOOM=',
    '/go.mod h1:VL/vb98uADgiBey4QSKqRgSwzLPfDUcLNV4z9iCP6ak=',
  ],
};

export interface ConsulAgent extends AsyncDisposable {
  readonly program: string;
  /** Words for `consul connect envoy`. */
  readonly addresses: readonly string[];
  /** Writes an object at a path of its API. */
  put(path: string, object: object): Promise<void>;
  get(path: string): Promise<unknown>;
  output(): string;
}

/** Resolves when it has elected itself and has a root certificate. */
export async function startAgent(): Promise<ConsulAgent> {
  const program = await built(CONSUL);
  const scratch = makeScratch();
  const [http, grpc, server, serf] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const settings = {
    ports: { http, grpc, grpc_tls: -1, dns: -1, server, serf_lan: serf, serf_wan: -1 },
    disable_update_check: true,
    log_level: 'warn',
    // What no intention allows is denied.
    default_intention_policy: 'deny',
    // Certificates are signed at once when the authority changes.
    connect: { enabled: true, ca_config: { csr_max_per_second: 0, csr_max_concurrent: 2 } },
  };
  const path = scratch.file('agent.json');
  writeFileSync(path, JSON.stringify(settings));
  const service = await startService({
    command: program,
    args: ['agent', '-dev', '-bind', '127.0.0.1', '-node', 'tried', '-config-file', path],
    ports: [http, grpc],
  });
  const get = async (of: string): Promise<unknown> => {
    const { status, body } = await fetchOnce({ port: http, path: `/v1${of}` });
    check(status === 200, `${of}: ${status} ${body}`);
    return JSON.parse(body);
  };
  await waitUntil('its root certificate', () =>
    get('/connect/ca/roots').then(
      () => true,
      () => false,
    ),
  );
  return {
    program,
    addresses: ['-http-addr', `127.0.0.1:${http}`, '-grpc-addr', `127.0.0.1:${grpc}`],
    async put(of, object) {
      const ask = { port: http, path: `/v1${of}`, method: 'PUT', body: JSON.stringify(object) };
      const { status, body } = await fetchOnce(ask);
      check(status === 200, `${of}: ${status} ${body}`);
    },
    get,
    output: () => service.output(),
    [Symbol.asyncDispose]: async () => {
      await service.kill('SIGTERM');
      scratch[Symbol.dispose]();
    },
  };
}
