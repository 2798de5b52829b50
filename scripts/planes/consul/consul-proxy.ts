/** A data plane of Consul, started with the bootstrap that `consul connect envoy` writes for it. */
import { writeFileSync } from 'node:fs';
import { freePort } from '../../../test/support/free-port.ts';
import { fetchOnce } from '../../../test/support/peers/http-client.ts';
import { makeScratch } from '../../../test/support/scratch.ts';
import { waitUntil } from '../../../test/support/wait.ts';
import { runProgram } from '../../programs/trial.ts';
import { startService } from '../../services/real-service.ts';
import { type DataPlane, proxyCommand } from '../data-plane.ts';
import type { ConsulAgent } from './consul-agent.ts';

const START_LIMIT_MS = 90_000;

export interface ConsulProxy extends AsyncDisposable {
  readonly id: string;
  /** Statistics that are not zero and whose names fit. */
  stats(filter: string): Promise<string>;
  /** Starts the next epoch; resolves when it is live. */
  restart(): Promise<void>;
  output(): string;
}

/** Of a service of that id, or of a gateway that is registered with that id. */
export async function startProxy(
  agent: ConsulAgent,
  proxy: DataPlane,
  id: string,
): Promise<ConsulProxy> {
  const scratch = makeScratch();
  const port = await freePort();
  const bootstrap = scratch.file('bootstrap.json');
  const own = ['-admin-bind', `127.0.0.1:${port}`, '-ignore-envoy-compatibility'];
  const about = ['connect', 'envoy', '-proxy-id', id, '-bootstrap'];
  const text = await runProgram(agent.program, [...about, ...agent.addresses, ...own]);
  writeFileSync(bootstrap, text.slice(text.indexOf('{')));
  const baseId = String(20_000 + (port % 10_000));
  const [command = '', ...words] = proxyCommand(proxy).split(' ');
  const options = ['--base-id', baseId, '--concurrency', '1', '--drain-time-s', '1'];
  const service = await startService({
    command,
    args: [...words, '--config-path', bootstrap, ...options],
    ports: [port],
  });
  const admin = async (path: string): Promise<string> =>
    (await fetchOnce({ port, path }).catch(() => ({ body: '' }))).body;
  const isLive = async (): Promise<boolean> => (await admin('/ready')).startsWith('LIVE');
  const epoch = async (): Promise<number> =>
    Number(/restart_epoch: (\d+)/.exec(await admin('/stats?filter=restart_epoch'))?.[1] ?? -1);
  await waitUntil(`${id}: its data plane`, isLive, START_LIMIT_MS);
  return {
    id,
    stats: (filter) => admin(`/stats?usedonly&filter=${encodeURIComponent(filter)}`),
    restart: async () => {
      const before = await epoch();
      service.signal('SIGHUP');
      await waitUntil('the next epoch', async () => (await epoch()) > before && (await isLive()));
    },
    output: () => service.output(),
    [Symbol.asyncDispose]: async () => {
      await service.kill('SIGTERM');
      scratch[Symbol.dispose]();
    },
  };
}
