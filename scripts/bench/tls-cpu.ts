/**
 * CPU time per request over TLS, of Sluice with one worker and of Envoy, in turns within one run:
 * `node dist/scripts/bench/tls-cpu.js [--seconds 1] [--turns 4] [--only new-rsa]`. No handshake resumes a
 * session. The lowest of the turns counts, so that the figures say something on a busy machine,
 * too.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { type CertificateKind, certificateFiles } from './support/certificates.ts';
import { allContenders } from './support/contenders.ts';
import { type Running, treeCpuMs } from './support/processes.ts';
import { startUpstream } from './support/upstream.ts';
import { type Load, runWrk } from './support/wrk.ts';

interface Row {
  readonly name: string;
  readonly certificate: CertificateKind | undefined;
  readonly load: Omit<Load, 'port' | 'seconds'>;
}

const CLOSE = ['Connection: close'];

const ROWS: readonly Row[] = [
  { name: 'keep-alive', certificate: 'rsa', load: { connections: 64 } },
  { name: 'keep-alive-10k', certificate: 'rsa', load: { connections: 64, path: '/10k' } },
  { name: 'keep-alive-100k', certificate: 'rsa', load: { connections: 64, path: '/100k' } },
  { name: 'new-rsa', certificate: 'rsa', load: { connections: 64, headers: CLOSE } },
  { name: 'new-ecdsa', certificate: 'ecdsa', load: { connections: 64, headers: CLOSE } },
  { name: 'new-plain', certificate: undefined, load: { connections: 64, headers: CLOSE } },
];

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '1' },
    turns: { type: 'string', default: '4' },
    only: { type: 'string', default: '' },
  },
});
const seconds = Number(values.seconds);
const turns = Number(values.turns);

const folder = mkdtempSync(join(tmpdir(), 'sluice-tls-cpu-'));
try {
  const base = 21_000 + (process.pid % 4_000);
  const upstream = await startUpstream(folder, base);
  for (const row of ROWS.filter(({ name }) => name.includes(values.only))) {
    await measure(row, upstream.port, base + 10);
  }
  await upstream.stop();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function measure(row: Row, upstreamPort: number, base: number): Promise<void> {
  const contenders = allContenders().filter(
    ({ kind, missing }) => (kind === 'sluice' || kind === 'reference') && missing === undefined,
  );
  const runs: { readonly name: string; readonly port: number; readonly running: Running }[] = [];
  for (const [index, contender] of contenders.entries()) {
    const port = base + index;
    const certificate =
      row.certificate === undefined
        ? {}
        : { certificate: certificateFiles(folder, row.certificate) };
    const running = await contender.start({ folder, port, upstreamPort, ...certificate });
    runs.push({ name: contender.name, port, running });
  }
  const best = new Map<string, number>();
  // The first turn warms up.
  for (let turn = 0; turn <= turns; turn += 1) {
    for (const { name, port, running } of runs) {
      const micros = await cpuMicrosPerRequest(row, port, running);
      if (turn > 0) best.set(name, Math.min(best.get(name) ?? Infinity, micros));
    }
  }
  await Promise.all(runs.map(({ running }) => running.stop()));
  const own = best.get('sluice') ?? Number.NaN;
  const reference = best.get('envoy');
  const ratio = reference === undefined ? '' : ` ratio ${(reference / own).toFixed(2)}`;
  const shown = [...best].map(([name, micros]) => `${name} ${micros.toFixed(1)} us`).join(', ');
  console.log(`${row.name.padEnd(16)} ${shown},${ratio}`);
}

async function cpuMicrosPerRequest(row: Row, port: number, running: Running): Promise<number> {
  const before = treeCpuMs(running.pid);
  const isSecure = row.certificate !== undefined;
  const { requestsPerSecond } = await runWrk({ ...row.load, port, seconds, isSecure });
  return ((treeCpuMs(running.pid) - before) * 1000) / (requestsPerSecond * seconds);
}
