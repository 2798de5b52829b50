/** The questions that `npm run bench` asks, each with the ratios that Sluice must reach. */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import {
  type BootstrapParts,
  type FilterParts,
  REWRITTEN_PREFIX,
  type Trait,
} from './bootstrap.ts';
import { treeCpuMs, treePssKib, type Running } from './processes.ts';
import type { CertificateKind } from './certificates.ts';
import { type Load, type LoadResult, runWrk } from './wrk.ts';

export interface Question {
  readonly name: string;
  readonly unit: string;
  /** Less is better; asked once, without a run before that does not count. */
  readonly isMemory?: boolean;
  /** At least this times Envoy (or at most, where less is better). */
  readonly toReference?: number;
  readonly toBestNpm?: number;
  readonly limit?: number;
  /** Asked over TLS. */
  readonly certificate?: CertificateKind;
  readonly traits?: readonly Trait[];
  /** What stands before the router, and what it asks. */
  readonly filters?: (parts: BootstrapParts) => FilterParts;
  /** Not of Sluice and Envoy alone. */
  readonly asksEverybody?: boolean;
  measure(port: number, running: Running, seconds: number): Promise<Sample>;
}

export interface Sample {
  readonly value: number;
  readonly failed: number;
  readonly requests?: number;
  /** CPU time per request of all processes of the proxy. */
  readonly cpuMicroseconds?: number;
}

/** A browser's request beside `Host`. */
const BROWSER_HEADERS = [
  'User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36',
  'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng,*/*;q=0.8',
  'Accept-Encoding: gzip, deflate, br, zstd',
  'Accept-Language: en-GB,en;q=0.9,de;q=0.8',
  'Cache-Control: max-age=0',
  'Cookie: session=5f2b8c0e9d3a4f61b7; theme=dark; consent=analytics%3Dno%26ads%3Dno; _id=GA1.2.1234567890.1700000000',
  'Priority: u=0, i',
  'Referer: https://www.example.com/application/index.html?from=search',
  'Sec-Ch-Ua: "Chromium";v="142", "Google Chrome";v="142", "Not_A Brand";v="99"',
  'Sec-Ch-Ua-Mobile: ?0',
  'Sec-Ch-Ua-Platform: "Linux"',
  'Sec-Fetch-Dest: document',
  'Sec-Fetch-Mode: navigate',
  'Sec-Fetch-Site: same-origin',
  'Sec-Fetch-User: ?1',
  'Upgrade-Insecure-Requests: 1',
];

/** A run of load, with the CPU time that the proxy took for a request. */
export const measured = (
  run: (port: number, seconds: number) => Promise<LoadResult>,
): Question['measure'] => {
  return async (port, running, seconds) => {
    const cpuBefore = treeCpuMs(running.pid);
    const result = await run(port, seconds);
    const cpuMs = treeCpuMs(running.pid) - cpuBefore;
    return {
      value: result.requestsPerSecond,
      requests: result.requests,
      failed: result.failed,
      cpuMicroseconds: (cpuMs * 1000) / Math.max(1, result.requests),
    };
  };
};

export const throughput = (load: Omit<Load, 'port' | 'seconds'>): Question['measure'] =>
  measured((port, seconds) => runWrk({ ...load, port, seconds }));

export const questions: readonly Question[] = [
  {
    name: 'keep-alive',
    unit: 'requests/s, GET of 13 bytes, 64 connections',
    toReference: 1.6,
    toBestNpm: 2.5,
    asksEverybody: true,
    measure: throughput({ connections: 64 }),
  },
  {
    name: 'browser-headers',
    unit: "requests/s with a browser's 16 headers and a rewritten prefix, 64 connections",
    toReference: 1.5,
    traits: ['prefix_rewrite'],
    measure: throughput({ connections: 64, path: REWRITTEN_PREFIX, headers: BROWSER_HEADERS }),
  },
  {
    name: 'access-log',
    unit: 'requests/s, each a line of the default format in a file, 64 connections',
    toReference: 1.5,
    traits: ['access_log'],
    measure: throughput({ connections: 64 }),
  },
  {
    name: 'body-10k',
    unit: 'requests/s, GET of 10 KiB, 64 connections',
    toReference: 1.3,
    asksEverybody: true,
    measure: throughput({ connections: 64, path: '/10k' }),
  },
  {
    name: 'body-100k',
    unit: 'requests/s, GET of 100 KiB, 64 connections',
    toReference: 1,
    measure: throughput({ connections: 64, path: '/100k' }),
  },
  {
    name: 'upload-10k',
    unit: 'requests/s, POST of 10 KiB, 64 connections',
    toReference: 1.2,
    measure: throughput({ connections: 64, upload: 10 * 1024 }),
  },
  {
    name: 'connections-1000',
    unit: 'requests/s, GET of 13 bytes, 1,000 connections',
    toReference: 1.5,
    measure: throughput({ connections: 1000 }),
  },
  {
    name: 'new-connections',
    unit: 'requests/s, one connection per request, 64 at a time',
    toReference: 0.8,
    asksEverybody: true,
    measure: throughput({ connections: 64, headers: ['Connection: close'] }),
  },
  {
    name: 'tls-keep-alive',
    unit: 'requests/s over TLS, GET of 13 bytes, 64 connections',
    toReference: 1.4,
    certificate: 'rsa',
    measure: throughput({ connections: 64, isSecure: true }),
  },
  {
    name: 'tls-new-connections-rsa',
    unit: 'requests/s, one TLS connection without resumption per request, RSA-2048, 64 at a time',
    toReference: 0.7,
    certificate: 'rsa',
    measure: throughput({ connections: 64, headers: ['Connection: close'], isSecure: true }),
  },
  {
    name: 'tls-new-connections-ecdsa',
    unit: 'requests/s, one TLS connection without resumption per request, P-256, 64 at a time',
    toReference: 0.3,
    certificate: 'ecdsa',
    measure: throughput({ connections: 64, headers: ['Connection: close'], isSecure: true }),
  },
  {
    name: 'idle-connections',
    unit: 'KiB of Pss for 1,000 idle connections',
    isMemory: true,
    asksEverybody: true,
    limit: 40 * 1024,
    measure: (port, running) => measureIdleConnections(port, running, 1000),
  },
  {
    name: 'idle-connections-10000',
    unit: 'KiB of Pss for 10,000 idle connections, each of which has carried a request',
    isMemory: true,
    toReference: 0.5,
    measure: (port, running) => measureIdleConnections(port, running, 10_000),
  },
];

async function measureIdleConnections(
  port: number,
  running: Running,
  count: number,
): Promise<Sample> {
  await runWrk({ port, connections: 16, seconds: 1 }); // code is compiled and pools are filled before
  await delay(1000);
  const before = treePssKib(running.pid);
  const sockets: Socket[] = [];
  let failed = 0;
  for (let i = 0; i < count; i++) {
    const socket = connect(port, '127.0.0.1');
    await new Promise<void>((resolve) => {
      socket.once('data', () => resolve());
      socket.once('error', () => {
        failed++;
        resolve();
      });
      socket.write('GET / HTTP/1.1\r\nHost: bench\r\n\r\n');
    });
    sockets.push(socket);
  }
  await delay(1000);
  const after = treePssKib(running.pid);
  for (const socket of sockets) socket.destroy();
  return { value: after - before, failed };
}
