/**
 * How long does `--mode validate` take, process start included, beside Envoy? Asks it of a
 * bootstrap with 10,000 clusters in YAML and of a small one, in turns, and prints wall and CPU
 * time. `envoy` is taken from the search path; without it only Sluice is measured. Run it on an
 * idle machine.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median } from './support/median.ts';
import { smallBootstrap } from './support/small-bootstrap.ts';

const CLUSTERS = 10_000;
const TURNS = 5;
const LARGE_RATIO_LIMIT = 1.5;
const SMALL_LIMIT_MS = 300;

interface Contender {
  readonly name: string;
  readonly command: readonly [string, ...string[]];
}

interface Times {
  readonly wallMs: number;
  readonly cpuMs: number;
}

const main = join(import.meta.dirname, '..', '..', 'src', 'main.js');
const contenders: readonly Contender[] = [
  { name: 'sluice', command: [process.execPath, main] },
  ...(spawnSync('envoy', ['--version']).status === 0
    ? [{ name: 'reference', command: ['envoy'] } as const]
    : []),
];

const folder = mkdtempSync(join(tmpdir(), 'sluice-validation-'));
try {
  compare(`${CLUSTERS} clusters`, largeBootstrap(), `ratio at most ${LARGE_RATIO_LIMIT}`);
  compare('small', smallBootstrap(), `below ${SMALL_LIMIT_MS} ms`);
} finally {
  rmSync(folder, { recursive: true });
}

function compare(title: string, text: string, wanted: string): void {
  const config = join(folder, 'bootstrap.yaml');
  writeFileSync(config, text);
  const all = new Map<Contender, Times[]>(contenders.map((contender) => [contender, []]));
  for (let turn = 0; turn < TURNS; turn++) {
    for (const [contender, times] of all) times.push(timeOne(contender, config));
  }
  const medians = [...all].map(([{ name }, times]) => ({
    name,
    wallMs: median(times.map(({ wallMs }) => wallMs)),
    cpuMs: median(times.map(({ cpuMs }) => cpuMs)),
  }));
  for (const { name, wallMs, cpuMs } of medians) {
    console.log(`${title}: ${name}: ${wallMs.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of CPU`);
  }
  const [own, reference] = medians;
  if (own === undefined || reference === undefined) return;
  const wall = (own.wallMs / reference.wallMs).toFixed(2);
  const cpu = (own.cpuMs / reference.cpuMs).toFixed(2);
  console.log(`${title}: ratio ${wall} (CPU ${cpu}); wanted: ${wanted}`);
}

/** Process start included. */
function timeOne({ name, command: [program, ...words] }: Contender, config: string): Times {
  const cpuBefore = childrenCpuMs();
  const begin = performance.now();
  const args = [...words, '--mode', 'validate', '-c', config, '-l', 'critical'];
  const { status, stderr } = spawnSync(program, args);
  const wallMs = performance.now() - begin;
  if (status !== 0) throw new Error(`${name} refused the configuration: ${stderr.toString()}`);
  return { wallMs, cpuMs: childrenCpuMs() - cpuBefore };
}

/** CPU time of all children that have ended, from /proc (clock ticks of 10 ms). */
function childrenCpuMs(): number {
  const text = readFileSync('/proc/self/stat', 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

function largeBootstrap(): string {
  const clusters = Array.from(
    { length: CLUSTERS },
    (_unused, index) => `  - name: service_${index}
    type: STATIC
    connect_timeout: 1s
    load_assignment:
      cluster_name: service_${index}
      endpoints:
      - lb_endpoints:
        - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: ${10_000 + (index % 20_000)}}}}
`,
  );
  return `admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}
static_resources:
  clusters:
${clusters.join('')}`;
}
