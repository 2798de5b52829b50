/** A row of epochs of one server for the measurements of hot restarts and drains. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fetchOnce } from '../../../test/support/peers/http-client.ts';
import { waitUntil } from '../../../test/support/wait.ts';

export interface EpochRowOptions {
  readonly command: readonly string[];
  readonly config: string;
  readonly adminPort: number;
  /** Further words for every epoch; those for times are short ones unless told. */
  readonly words?: readonly string[];
  /** 2 unless told. */
  readonly concurrency?: number;
}

const SHORT_TIMES = ['--drain-time-s', '1', '--parent-shutdown-time-s', '2'];

export class EpochRow {
  readonly #options: EpochRowOptions;
  readonly #epochs = new Map<number, ChildProcess>();

  constructor(options: EpochRowOptions) {
    this.#options = options;
  }

  /** Resolves with the process id when the epoch is live. */
  async start(epoch: number): Promise<number> {
    const child = this.#spawn(epoch, ['-l', 'off'], 'ignore');
    this.#epochs.set(epoch, child);
    await waitUntil(`epoch ${epoch}`, () => this.#isLive(epoch), 30_000);
    return child.pid ?? 0;
  }

  /** Starts an epoch and kills it `delayMs` after this text stands in its log. */
  async killChild(epoch: number, line: string, delayMs: number): Promise<void> {
    const child = this.#spawn(epoch, ['-l', 'debug'], 'pipe');
    const exited = once(child, 'exit');
    let text = '';
    let isSeen = false;
    child.stderr?.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const kill = (): void => void child.kill('SIGKILL');
      // A child that has workers which accept would take their connections along.
      if (text.includes('starting workers')) return kill();
      if (isSeen || !text.includes(line)) return;
      isSeen = true;
      setTimeout(kill, delayMs);
    });
    await exited;
  }

  async exitOf(epoch: number): Promise<void> {
    const child = this.#epochs.get(epoch);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    await once(child, 'exit');
  }

  /** The value of one counter; 0 when it is not there. */
  async stat(name: string): Promise<number> {
    const answer = (await this.#ask(`/stats?filter=^${name}$`)) ?? '';
    return Number(answer.split(': ')[1] ?? 0);
  }

  /** Commands the live epoch. */
  async post(path: string): Promise<void> {
    const { status, body } = await fetchOnce({
      port: this.#options.adminPort,
      path,
      method: 'POST',
    });
    if (status !== 200) throw new Error(`${path}: ${status} ${body}`);
  }

  close(): void {
    for (const child of this.#epochs.values()) child.kill('SIGKILL');
  }

  #spawn(epoch: number, more: readonly string[], stderr: 'ignore' | 'pipe'): ChildProcess {
    const { command, config, words, concurrency = 2 } = this.#options;
    const [program = '', ...before] = command;
    const ids = ['--base-id', String(process.pid), '--restart-epoch', String(epoch)];
    const all = [
      '-c',
      config,
      ...ids,
      '--concurrency',
      String(concurrency),
      ...(words ?? SHORT_TIMES),
      ...more,
    ];
    return spawn(program, [...before, ...all], { stdio: ['ignore', 'ignore', stderr] });
  }

  async #isLive(epoch: number): Promise<boolean> {
    const answer = await this.#ask('/server_info');
    if (answer === undefined) return false;
    const info = JSON.parse(answer) as {
      readonly state: string;
      readonly command_line_options: { readonly restart_epoch: number };
    };
    return info.state === 'LIVE' && info.command_line_options.restart_epoch === epoch;
  }

  async #ask(path: string): Promise<string | undefined> {
    const ask = { port: this.#options.adminPort, path };
    const answer = await fetchOnce(ask).catch(() => undefined);
    return answer?.status === 200 ? answer.body : undefined;
  }
}
