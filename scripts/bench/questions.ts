/** The questions that `npm run bench` asks, each with the ratios that Sluice must reach. */
import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { treePssKib, type Running } from './processes.ts';
import type { CertificateKind } from './certificates.ts';
import { runWrk, type Load } from './wrk.ts';

export interface Question {
  readonly name: string;
  readonly unit: string;
  readonly better: 'higher' | 'lower';
  /** At least this times the reference (or at most, where lower is better). */
  readonly toReference?: number;
  readonly toBestNpm?: number;
  readonly limit?: number;
  /** Asked over TLS, of Sluice and the reference alone. */
  readonly certificate?: CertificateKind;
  /** Asked once before it counts, unless the question warms up by itself. */
  readonly warmsUpItself?: boolean;
  measure(port: number, running: Running, seconds: number): Promise<Sample>;
}

export interface Sample {
  readonly value: number;
  readonly failed: number;
}

const throughput = (load: Omit<Load, 'port' | 'seconds'>): Question['measure'] => {
  return async (port, _running, seconds) => {
    const result = await runWrk({ ...load, port, seconds });
    return { value: result.requestsPerSecond, failed: result.failed };
  };
};

export const questions: readonly Question[] = [
  {
    name: 'keep-alive',
    unit: 'requests/s, GET of 13 bytes, 64 connections',
    better: 'higher',
    toReference: 1.5,
    toBestNpm: 2.5,
    measure: throughput({ connections: 64 }),
  },
  {
    name: 'body-10k',
    unit: 'requests/s, GET of 10 KiB, 64 connections',
    better: 'higher',
    toReference: 1.2,
    measure: throughput({ connections: 64, path: '/10k' }),
  },
  {
    name: 'new-connections',
    unit: 'requests/s, one connection per request, 64 at a time',
    better: 'higher',
    toReference: 0.7,
    measure: throughput({ connections: 64, headers: ['Connection: close'] }),
  },
  {
    name: 'tls-keep-alive',
    unit: 'requests/s over TLS, GET of 13 bytes, 64 connections',
    better: 'higher',
    toReference: 1.4,
    certificate: 'rsa',
    measure: throughput({ connections: 64, isSecure: true }),
  },
  {
    name: 'tls-new-connections-rsa',
    unit: 'requests/s, one TLS connection without resumption per request, RSA-2048, 64 at a time',
    better: 'higher',
    toReference: 0.7,
    certificate: 'rsa',
    measure: throughput({ connections: 64, headers: ['Connection: close'], isSecure: true }),
  },
  {
    name: 'tls-new-connections-ecdsa',
    unit: 'requests/s, one TLS connection without resumption per request, P-256, 64 at a time',
    better: 'higher',
    toReference: 0.3,
    certificate: 'ecdsa',
    measure: throughput({ connections: 64, headers: ['Connection: close'], isSecure: true }),
  },
  {
    name: 'idle-connections',
    unit: 'KiB of Pss for 1,000 idle connections',
    better: 'lower',
    limit: 40 * 1024,
    warmsUpItself: true,
    measure: measureIdleConnections,
  },
];

async function measureIdleConnections(port: number, running: Running): Promise<Sample> {
  await runWrk({ port, connections: 16, seconds: 1 }); // code is compiled and pools are filled before
  await delay(1000);
  const before = treePssKib(running.pid);
  const sockets: Socket[] = [];
  let failed = 0;
  for (let i = 0; i < 1000; i++) {
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
