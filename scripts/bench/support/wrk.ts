/** Runs wrk and reads its report. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOAD_CORE, runPinned } from './processes.ts';

export interface Load {
  readonly port: number;
  readonly path?: string;
  readonly connections: number;
  readonly seconds: number;
  /** Over TLS. wrk resumes sessions where the server lets it. */
  readonly isSecure?: boolean;
  readonly headers?: readonly string[];
  /** A Lua script for requests that wrk's options cannot say. */
  readonly script?: string;
  /** Each request is a POST of so many bytes. */
  readonly upload?: number;
}

export interface LoadResult {
  /** Of the whole run. */
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  /** Socket errors, time-outs and answers other than 2xx and 3xx. */
  readonly failed: number;
}

export async function runWrk(load: Load): Promise<LoadResult> {
  if (load.upload === undefined) return run(load, load.script);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-wrk-'));
  const script = join(folder, 'upload.lua');
  const body = `string.rep("x", ${load.upload})`;
  writeFileSync(script, `wrk.method = "POST"\nwrk.body = ${body}\n`);
  try {
    return await run(load, script);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function run(load: Load, script: string | undefined): Promise<LoadResult> {
  const output = await runPinned(LOAD_CORE, [
    'wrk',
    '-t1',
    `-c${load.connections}`,
    `-d${load.seconds}s`,
    '--latency',
    ...(script === undefined ? [] : ['-s', script]),
    ...(load.headers ?? []).flatMap((header) => ['-H', header]),
    `${load.isSecure === true ? 'https' : 'http'}://127.0.0.1:${load.port}${load.path ?? '/'}`,
  ]);
  const number = (pattern: RegExp): number => Number(pattern.exec(output)?.[1] ?? 0);
  const errors = /Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(
    output,
  );
  const socketErrors = (errors ?? []).slice(1).reduce((sum, count) => sum + Number(count), 0);
  return {
    requests: number(/(\d+) requests in /),
    requestsPerSecond: number(/Requests\/sec:\s+([\d.]+)/),
    p99Ms: milliseconds(/99%\s+([\d.]+)(us|ms|s)/.exec(output)),
    failed: socketErrors + number(/Non-2xx or 3xx responses: (\d+)/),
  };
}

function milliseconds(match: RegExpExecArray | null): number {
  const scale: Record<string, number> = { us: 0.001, ms: 1, s: 1000 };
  return Number(match?.[1] ?? 0) * (scale[match?.[2] ?? 'ms'] ?? 1);
}
