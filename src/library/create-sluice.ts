/**
 * A server within one's own program: the package's main export. The supervisor is a child process,
 * so that what a program starts is the same as what the command line starts.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { systemClock } from '../../shared/process/clock.ts';
import { AdminClient, type AdminAnswer } from '../admin-client/admin-client.ts';
import { keepPorts } from './keep-ports.ts';

export type { AdminAnswer };

export interface SluiceOptions {
  /** A bootstrap as an object, or the path of a file. Without `admin` it gets one on a free port. */
  readonly config: object | string;
  /** Number of workers. Default: 1. */
  readonly concurrency?: number;
  /** Further words of the command line. */
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  /** Default: warning. */
  readonly logLevel?: 'trace' | 'debug' | 'info' | 'warning' | 'error' | 'critical' | 'off';
  /** Takes the log, a piece at a time. Default: standard error. */
  readonly onLog?: (text: string) => void;
  /** How long the start may take. Default: 30,000. */
  readonly startTimeoutMs?: number;
}

export interface Sluice {
  readonly pid: number;
  /** `address:port` of the admin interface. */
  readonly adminAddress: string;
  /** Resolves when the server accepts connections; rejects with its log when it cannot start. */
  ready(): Promise<void>;
  /** The port on which a listener of the configuration accepts. */
  listenerPort(name: string): Promise<number>;
  /** Counters and gauges by name, those that `filter` matches. */
  stats(filter?: string): Promise<ReadonlyMap<string, number>>;
  admin(path: string, method?: 'GET' | 'POST'): Promise<AdminAnswer>;
  /** Asks the connections of all listeners to end. */
  drain(): Promise<void>;
  /**
   * A new server takes the listeners over, and the old one drains and ends. Ports that the system has
   * chosen stay where `config` is an object; in a file a listener needs its port.
   */
  restart(): Promise<void>;
  /** Ends the server. */
  close(): Promise<void>;
}

const START_TIMEOUT_MS = 30_000;
const POLL_MS = 20;
/** After SIGTERM. */
const CLOSE_LIMIT_MS = 10_000;
const LOG_CHARACTERS_KEPT = 64 * 1024;

export function createSluice(options: SluiceOptions): Sluice {
  return new SluiceProcess(options);
}

class SluiceProcess implements Sluice {
  readonly #options: SluiceOptions;
  readonly #folder = mkdtempSync(join(tmpdir(), 'sluice-'));
  /** All epochs that have not ended: a server that was replaced drains for a while. */
  readonly #living = new Set<ChildProcess>();
  readonly #ending = (): void => {
    for (const child of this.#living) child.kill('SIGKILL');
  };
  #config: object | string;
  #epoch = 0;
  #log = '';
  #child: ChildProcess;
  #ready: Promise<void>;
  #adminAddress = '';

  constructor(options: SluiceOptions) {
    this.#options = options;
    this.#config = options.config;
    this.#child = this.#spawn(['--use-dynamic-base-id']);
    this.#ready = this.#started(this.#child);
    // A caller who asks for it gets it; nobody has to.
    this.#ready.catch(() => undefined);
    process.once('exit', this.#ending);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get adminAddress(): string {
    return this.#adminAddress;
  }

  async ready(): Promise<void> {
    await this.#ready;
  }

  async listenerPort(name: string): Promise<number> {
    const port = (await this.#ports()).get(name);
    if (port === undefined) throw new Error(`there is no listener ${name}`);
    return port;
  }

  async stats(filter = ''): Promise<ReadonlyMap<string, number>> {
    await this.#ready;
    return await new AdminClient({ address: this.#adminAddress }).stats(filter);
  }

  async admin(path: string, method: 'GET' | 'POST' = 'GET'): Promise<AdminAnswer> {
    await this.#ready;
    return await this.#ask(path, method);
  }

  async drain(): Promise<void> {
    await this.admin('/drain_listeners?graceful&skip_exit', 'POST');
  }

  async restart(): Promise<void> {
    if (typeof this.#config === 'object') {
      this.#config = keepPorts(this.#config, await this.#ports());
    }
    await this.#ready;
    this.#epoch++;
    const baseId = readFileSync(this.#file('base-id'), 'utf8').trim();
    const before = this.#child;
    rmSync(this.#file('admin-address'), { force: true });
    const child = this.#spawn(['--base-id', baseId, '--restart-epoch', String(this.#epoch)]);
    this.#ready = this.#started(child);
    try {
      await this.#ready;
      this.#child = child;
    } catch (error) {
      this.#child = before;
      this.#epoch--;
      throw error;
    }
  }

  async close(): Promise<void> {
    process.off('exit', this.#ending);
    await this.#ready.catch(() => undefined);
    await Promise.all([...this.#living].map(async (child) => await endOf(child)));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** The ports of listeners by their names. */
  async #ports(): Promise<ReadonlyMap<string, number>> {
    await this.#ready;
    const admin = new AdminClient({ address: this.#adminAddress });
    const { listener_statuses: statuses = [] } = await admin.json<{
      readonly listener_statuses?: readonly {
        readonly name: string;
        readonly local_address?: { readonly socket_address?: { readonly port_value?: number } };
      }[];
    }>('/listeners', { format: 'json' });
    return new Map(
      statuses.flatMap(({ name, local_address: address }) => {
        const port = address?.socket_address?.port_value;
        return port === undefined ? [] : [[name, port]];
      }),
    );
  }

  #file(name: string): string {
    return join(this.#folder, name);
  }

  #spawn(words: readonly string[]): ChildProcess {
    const { concurrency = 1, args = [], env = {}, logLevel = 'warning' } = this.#options;
    const config = this.#config;
    const path = typeof config === 'string' ? config : this.#file('bootstrap.json');
    if (typeof config === 'object') writeFileSync(path, JSON.stringify({ ...ADMIN, ...config }));
    const main = fileURLToPath(new URL('../src/main.js', import.meta.url));
    const own = `--concurrency ${concurrency} --log-level ${logLevel}`.split(' ');
    const addressPath = this.#file('admin-address');
    const paths = ['--admin-address-path', addressPath, '--base-id-path', this.#file('base-id')];
    const command = [main, '-c', path, ...own, ...paths, ...words, ...args];
    const child = spawn(process.execPath, command, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'inherit', 'pipe'],
    });
    this.#living.add(child);
    child.once('exit', () => this.#living.delete(child));
    // It could not be made: what waits for its start is told by its log.
    child.once('error', (error) => {
      this.#living.delete(child);
      this.#take(`${error.message}\n`);
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#take(text));
    return child;
  }

  #take(text: string): void {
    this.#log = (this.#log + text).slice(-LOG_CHARACTERS_KEPT);
    if (this.#options.onLog === undefined) process.stderr.write(text);
    else this.#options.onLog(text);
  }

  /** Polls, since a server says nowhere else that it is live. */
  async #started(child: ChildProcess): Promise<void> {
    const untilMs = systemClock.monotonicMs() + (this.#options.startTimeoutMs ?? START_TIMEOUT_MS);
    for (;;) {
      if (!this.#living.has(child)) {
        throw new Error(`sluice ended before it was ready:\n${this.#log}`);
      }
      this.#adminAddress = readText(this.#file('admin-address'));
      if (this.#adminAddress !== '') {
        const answer = await this.#ask('/ready', 'GET').catch(() => undefined);
        if (answer?.status === 200) return;
      }
      if (systemClock.monotonicMs() > untilMs) {
        child.kill('SIGKILL');
        throw new Error(`sluice was not ready in time:\n${this.#log}`);
      }
      await new Promise<void>((resolve) => systemClock.after(POLL_MS, resolve));
    }
  }

  async #ask(path: string, method: 'GET' | 'POST'): Promise<AdminAnswer> {
    return await new AdminClient({ address: this.#adminAddress }).ask({ method, path });
  }
}

/** Asks it to end, and does not wait for ever. */
async function endOf(child: ChildProcess): Promise<void> {
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  child.kill('SIGTERM');
  const limit = systemClock.after(CLOSE_LIMIT_MS, () => child.kill('SIGKILL'));
  await ended;
  limit.cancel();
}

const ADMIN = { admin: { address: { socket_address: { address: '127.0.0.1', port_value: 0 } } } };

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
