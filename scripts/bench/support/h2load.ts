/** Runs h2load and reads its report. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { LOAD_CORE, runPinned } from './processes.ts';
import type { LoadResult } from './wrk.ts';

const EMPTY_MESSAGE = '\0'.repeat(5);
const GRPC_HEADERS = ['-H', 'content-type: application/grpc', '-H', 'te: trailers'];

export interface Http2Load {
  readonly port: number;
  readonly path?: string;
  readonly connections: number;
  /** Requests of a connection at once. */
  readonly streams: number;
  readonly seconds: number;
  readonly isSecure?: boolean;
  /** Each request is a POST of so many bytes. */
  readonly upload?: number;
  /** Each request is a call of gRPC with an empty message. */
  readonly isGrpc?: boolean;
}

export async function runH2load(load: Http2Load): Promise<LoadResult> {
  if (load.isGrpc === true) return withBody(load, EMPTY_MESSAGE, GRPC_HEADERS);
  return load.upload === undefined ? run(load, []) : withBody(load, 'x'.repeat(load.upload), []);
}

async function withBody(
  load: Http2Load,
  body: string,
  headers: readonly string[],
): Promise<LoadResult> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-h2load-'));
  const file = join(folder, 'upload');
  writeFileSync(file, body);
  try {
    return await run(load, ['-d', file, ...headers]);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function run(load: Http2Load, more: readonly string[]): Promise<LoadResult> {
  const output = await runPinned(LOAD_CORE, [
    'h2load',
    `-c${load.connections}`,
    `-m${load.streams}`,
    `-D${load.seconds}`,
    ...more,
    `${load.isSecure === true ? 'https' : 'http'}://127.0.0.1:${load.port}${load.path ?? '/'}`,
  ]);
  const number = (pattern: RegExp): number => Number(pattern.exec(output)?.[1] ?? 0);
  const good = number(/status codes: (\d+) 2xx/);
  return {
    requests: good,
    requestsPerSecond: number(/, ([\d.]+) req\/s/),
    p99Ms: 0,
    failed: number(/(\d+) failed/) + number(/(\d+) timeout/),
  };
}
