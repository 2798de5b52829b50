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
  /** Each request has the next of these values in that header. */
  readonly inTurns?: { readonly header: string; readonly values: readonly string[] };
  /** Each request is a POST of so many bytes. */
  readonly upload?: number;
}

export interface LoadResult {
  /** All requests of the whole run. */
  readonly requests: number;
  readonly requestsPerSecond: number;
  readonly p99Ms: number;
  /** Socket errors, time-outs and answers other than 2xx and 3xx. */
  readonly failed: number;
}

export async function runWrk(load: Load): Promise<LoadResult> {
  if (load.upload === undefined && load.inTurns === undefined) return run(load);
  const folder = mkdtempSync(join(tmpdir(), 'sluice-wrk-'));
  try {
    return await run(load, writeScript(folder, load));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** A Lua script for requests that wrk's options cannot say. */
function writeScript(folder: string, { upload, inTurns }: Load): string {
  const script = join(folder, 'requests.lua');
  const lines: string[] = [];
  if (upload !== undefined) lines.push('wrk.method = "POST"', `wrk.body = ("x"):rep(${upload})`);
  if (inTurns !== undefined) {
    const values = join(folder, 'values.txt');
    writeFileSync(values, `${inTurns.values.join('\n')}\n`);
    lines.push(
      'local requests, at = {}, 0',
      'function init()',
      `  for value in io.lines("${values}") do`,
      `    requests[#requests + 1] = wrk.format(nil, nil, { ["${inTurns.header}"] = value })`,
      '  end',
      'end',
      'function request()',
      '  at = at % #requests + 1',
      '  return requests[at]',
      'end',
    );
  }
  writeFileSync(script, `${lines.join('\n')}\n`);
  return script;
}

async function run(load: Load, script?: string): Promise<LoadResult> {
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
