/** Servers of one base id, one epoch after the other, with a listener on a port that stays. */
import { rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { bootstrap, httpListener } from '../parts/bootstrap.ts';
import { makeScratch, type Scratch } from '../scratch.ts';
import { startSluice, type RunOptions, type Sluice } from './sluice.ts';

export interface Epochs {
  readonly baseId: number;
  readonly port: number;
  readonly adminPort: number;
  readonly scratch: Scratch;
  /** For a server that is not started here: `bootstrap.json` in the scratch folder. */
  writeBootstrap(): void;
  /** The words that every epoch gets. */
  args(epoch: number): readonly string[];
  options(epoch: number, more?: RunOptions): RunOptions;
  start(epoch: number, more?: RunOptions): Promise<Sluice>;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface EpochsSetup {
  readonly listener?: object;
  /** Drains gradually, which takes two seconds for each restart; else at once, which takes one. */
  readonly isGradual?: boolean;
  /** Seconds. */
  readonly parentShutdownTime?: number;
}

let count = 0;

export async function makeEpochs(setup: EpochsSetup = {}): Promise<Epochs> {
  const scratch = makeScratch();
  const [port, adminPort] = [await freePort(), await freePort()];
  const baseId = process.pid * 20 + count++;
  const started: Sluice[] = [];
  const args = (epoch: number): readonly string[] => [
    '--base-id',
    String(baseId),
    '--restart-epoch',
    String(epoch),
    '--drain-time-s',
    '1',
    '--drain-strategy',
    setup.isGradual === true ? 'gradual' : 'immediate',
    '--parent-shutdown-time-s',
    String(setup.parentShutdownTime ?? (setup.isGradual === true ? 2 : 1)),
  ];
  const options = (epoch: number, more: RunOptions = {}): RunOptions => ({
    bootstrap: okBootstrap(port, adminPort, setup.listener),
    concurrency: 2,
    scratch,
    ...more,
    args: [...args(epoch), ...(more.args ?? [])],
  });
  return {
    baseId,
    port,
    adminPort,
    scratch,
    args,
    options,
    writeBootstrap: () => {
      const text = JSON.stringify(okBootstrap(port, adminPort, setup.listener));
      writeFileSync(scratch.file('bootstrap.json'), text);
    },
    start: async (epoch, more) => {
      const sluice = await startSluice(options(epoch, more));
      started.push(sluice);
      return sluice;
    },
    [Symbol.asyncDispose]: async () => {
      for (const sluice of started) sluice.process.kill('SIGKILL');
      await Promise.all(started.map((sluice) => sluice.exited()));
      // A server that was killed could not tidy up.
      rmSync(`/dev/shm/envoy_shared_memory_${baseId * 10}`, { force: true });
      scratch[Symbol.dispose]();
    },
  };
}

/** Every request is answered with 200. */
export function okBootstrap(port: number, adminPort: number, listener: object = {}): object {
  const ok = { status: 200, body: { inline_string: 'ok' } };
  return bootstrap(
    {
      listeners: [
        httpListener([{ match: { prefix: '/' }, direct_response: ok }], {
          listener: { address: loopback(port), ...listener },
        }),
      ],
    },
    { admin: { address: loopback(adminPort) } },
  );
}

export function loopback(port: number): object {
  return { socket_address: { address: '127.0.0.1', port_value: port } };
}

/**
 * A port that stays free while nobody listens on it for a moment: it is not one of those that the
 * kernel gives to clients, whose closed connections would keep others from binding it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = PORTS_BEGIN + Math.floor(Math.random() * (PORTS_END - PORTS_BEGIN));
    if (givenPorts.has(port) || !(await isFree(port))) continue;
    givenPorts.add(port);
    return port;
  }
}

const PORTS_BEGIN = 12_000;
const PORTS_END = 32_000;
const givenPorts = new Set<number>();

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
