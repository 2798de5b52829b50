/**
 * Sends requests through a data plane of its own before the worker has anything to serve, so that
 * the first client does not wait while the path of a request is loaded and compiled.
 *
 * That data plane has its own statistics, which nobody reads, its own resources, and no way to the
 * supervisor or the log; its sockets have random names in the kernel's abstract name space and are
 * gone when it ends. It runs while the supervisor reads the configuration. A warm-up that fails or
 * takes too long is given up in silence: the worker serves then as it would have without one.
 */
import { randomUUID } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import type { Clock } from '../../shared/process/clock.ts';
import { bindSocket, listenOn, openSocket } from '../../shared/posix/sockets.ts';
import { createDataPlane } from '../data-plane/data-plane.ts';
import type { DataPlane } from '../data-plane/data-plane-commands.ts';
import { WorkerStatStore } from '../stats/worker-stat-store.ts';
import { restartConnectionIds } from '../stream/connection-facts.ts';
import { restartUpstreamConnectionIds } from '../upstream/pools/connection-ids.ts';
import { BACK, FRONT, WARM_UP_HERITAGE, warmUpResources } from './warm-up-resources.ts';

/** From its begin to its end, however busy the machine is; a start waits no longer for it. */
const LIMIT_MS = 100;
/** Each of them accepts, connects and closes; the code for that has to be compiled as well. */
const CONNECTIONS = 2;
const REQUESTS_PER_CONNECTION = 8;
const SOCK_STREAM = 1;
/** After the NUL with which it begins: an abstract name that is shorter Node 20 fills with NULs. */
const ABSTRACT_NAME_BYTES = 107;
const BACKLOG = 16;
const BODY = 'warm';

const REQUESTS: readonly string[] = [
  'GET /warm?up=1 HTTP/1.1\r\nhost: warm-up\r\nuser-agent: sluice\r\naccept: */*\r\n' +
    'x-forwarded-for: 192.0.2.1\r\n\r\n',
  'POST /warm HTTP/1.1\r\nhost: warm-up\r\ncontent-type: text/plain\r\ncontent-length: 4\r\n\r\nwarm',
];

/** Operators who want no warm-up set it to `off` in the environment. */
const WARM_UP_VARIABLE = 'SLUICE_WORKER_WARM_UP';

/** Resolves when it has ended, within `LIMIT_MS`; never rejects. */
export async function warmUp(
  clock: Clock,
  environment: NodeJS.ProcessEnv = process.env,
): Promise<void> {
  // Elsewhere there are no names for sockets that leave no file behind.
  if (environment[WARM_UP_VARIABLE] === 'off' || process.platform !== 'linux') return;
  const run = new WarmUp(clock);
  await new Promise<void>((resolve) => {
    const limit = clock.after(LIMIT_MS, resolve);
    void run.run().then(() => {
      limit.cancel();
      resolve();
    });
  });
  await run.end();
}

class WarmUp {
  readonly #stats = new WorkerStatStore();
  readonly #plane: DataPlane;
  readonly #names = { front: newSocketName(), back: newSocketName() };
  #client: Socket | undefined;
  #isEnded = false;

  constructor(clock: Clock) {
    this.#plane = createDataPlane({
      heritage: WARM_UP_HERITAGE,
      stats: this.#stats,
      clock,
      exceptions: { note: () => undefined },
      notify: () => undefined,
      log: () => undefined,
    });
  }

  async run(): Promise<void> {
    try {
      await this.#plane.apply(warmUpResources(`\0${this.#names.back}`, BODY));
      await this.#listen(BACK, this.#names.back);
      await this.#listen(FRONT, this.#names.front);
      for (let count = 0; count < CONNECTIONS && !this.#isEnded; count += 1) {
        await this.#ask(REQUESTS_PER_CONNECTION);
      }
    } catch {
      // The worker is what it would be without a warm-up.
    }
  }

  async end(): Promise<void> {
    this.#isEnded = true;
    this.#client?.destroy();
    try {
      await this.#plane.close();
    } catch {
      // Nothing of it is needed any more.
    }
    restartConnectionIds();
    restartUpstreamConnectionIds();
  }

  async #listen(listener: string, name: string): Promise<void> {
    const address = { kind: 'pipe', path: `@${name}` } as const;
    const fd = openSocket(address, SOCK_STREAM);
    bindSocket(fd, address);
    listenOn(fd, BACKLOG);
    await this.#plane.listen(listener, [{ fd, address, backlog: BACKLOG }]);
  }

  /** One connection with requests one after the other; resolves when it is closed. */
  async #ask(count: number): Promise<void> {
    const client = connect(`\0${this.#names.front}`);
    this.#client = client;
    let left = count;
    let text = '';
    const next = (): void => {
      if (left === 0 || this.#isEnded) return void client.destroy();
      left -= 1;
      text = '';
      client.write(REQUESTS[left % REQUESTS.length] ?? '');
    };
    client.setEncoding('latin1');
    client.on('data', (chunk: string) => {
      text += chunk;
      if (text.endsWith(BODY)) next();
    });
    client.on('connect', next);
    client.on('error', () => undefined);
    await new Promise<void>((resolve) => {
      client.once('close', () => resolve());
    });
  }
}

function newSocketName(): string {
  return `sluice-warm-up-${randomUUID()}`.padEnd(ABSTRACT_NAME_BYTES, '-');
}
