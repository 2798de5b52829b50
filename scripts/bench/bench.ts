/**
 * `npm run bench`: Sluice beside Envoy, nginx, HAProxy and the npm proxies, each alone on one
 * core, the load and the upstream on the other, in turns within one run; prints medians, ratios and
 * the CPU time per request. Options: `--only NAME[,NAME]`, `--with NAME[,NAME]` (contenders),
 * `--rounds N` (3), `--seconds N` (4), `--runtime PATH` (Sluice on that Node.js as well; as often as
 * wanted), `--picture FILE` (an SVG of the ratios to Envoy). A question to Sluice and Envoy alone takes about half a minute.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startAskedServices } from './support/asked-services.ts';
import { startMessageHost, STREAM_PORT_OFFSET } from './support/message-stream.ts';
import { median } from './support/median.ts';
import { certificateFiles } from './support/certificates.ts';
import { allContenders, type Contender } from './support/contenders.ts';
import { drawPicture, type PictureRow } from './support/picture.ts';
import { http2Questions } from './support/http2-questions.ts';
import { questions, type Question, type Sample } from './support/questions.ts';
import { redisQuestions, startRedis } from './support/redis-questions.ts';
import { isInstalled, type Running } from './support/processes.ts';
import { scriptQuestions } from './scripts/script-questions.ts';
import { serviceQuestions } from './support/service-questions.ts';
import { startUpstream } from './support/upstream.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    with: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '4' },
    runtime: { type: 'string', multiple: true, default: [] },
    picture: { type: 'string' },
  },
});
/** Requests after which a proxy is taken to be as fast as it will be. */
const WARM_AFTER = 15_000;
const MAX_WARMING_RUNS = 4;
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const chosen = (list: string | undefined, name: string): boolean =>
  list === undefined || list.split(',').includes(name);

for (const program of ['wrk', 'nginx', 'taskset']) {
  if (!isInstalled(program)) throw new Error(`cannot run the benchmark: ${program} is not on PATH`);
}
const contenders = allContenders(values.runtime).filter(({ name, kind, missing }) => {
  if (!chosen(values.with, kind === 'sluice' ? kind : name)) return false;
  if (missing !== undefined) console.log(`left out: ${name} (${missing})`);
  return missing === undefined;
});
const machine = `${cpus()[0]?.model ?? 'unknown CPU'}, ${cpus().length} cores, node ${process.version}`;
console.log(machine);
const rows: PictureRow[] = [];

const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'));
const upstreamPort = 18_080;
const upstream = await startUpstream(folder, upstreamPort);
const services = await startAskedServices(folder, upstreamPort);
const redis = await startRedis(upstreamPort);
const messages = await startMessageHost(upstreamPort + STREAM_PORT_OFFSET);
try {
  for (const question of [
    ...questions,
    ...http2Questions,
    ...serviceQuestions,
    ...scriptQuestions,
    ...redisQuestions,
  ].filter(({ name }) => chosen(values.only, name))) {
    report(question, await askInTurns(question));
  }
  if (values.picture !== undefined) writeFileSync(values.picture, picture());
} finally {
  messages.stop();
  redis.stop();
  await services.stop();
  await upstream.stop();
  rmSync(folder, { recursive: true, force: true });
}

async function askInTurns(question: Question): Promise<Map<Contender, Sample[]>> {
  const { certificate: kind, traits = [], isMemory = false } = question;
  const samples = new Map<Contender, Sample[]>(asked(question).map((contender) => [contender, []]));
  const certificate = kind === undefined ? {} : { certificate: certificateFiles(folder, kind) };
  for (let round = 0; round < (isMemory ? 1 : rounds); round++) {
    for (const [index, contender] of [...samples.keys()].entries()) {
      const port = 18_100 + index;
      const isSluice = contender.kind === 'sluice';
      const plain = { folder, port, upstreamPort, traits, isSluice, ...certificate };
      const filters = question.filters?.(plain);
      const place = { ...plain, ...(filters === undefined ? {} : { filters }) };
      const running = await contender.start(place);
      try {
        if (!isMemory) await warmUp(question, place.port, running);
        samples.get(contender)?.push(await question.measure(place.port, running, seconds));
      } finally {
        await running.stop();
      }
    }
  }
  return samples;
}

/** Code is compiled before it counts: on a busy machine that takes more than a second. */
async function warmUp(question: Question, port: number, running: Running): Promise<void> {
  let requests = 0;
  for (let run = 0; run < MAX_WARMING_RUNS && requests < WARM_AFTER; run++) {
    requests += (await question.measure(port, running, 1)).requests ?? WARM_AFTER;
  }
}

/** Who is asked: only two of them read the bootstrap that says TLS, logs and rewrites. */
function asked({ asksEverybody = false }: Question): readonly Contender[] {
  if (asksEverybody) return contenders;
  return contenders.filter(({ kind }) => kind === 'sluice' || kind === 'reference');
}

function report(question: Question, samples: Map<Contender, Sample[]>): void {
  console.log(`\n${question.name}: ${question.unit}`);
  const medians = new Map(
    [...samples].map(([contender, list]) => [contender, median(list.map(({ value }) => value))]),
  );
  const best = (kind: Contender['kind']): number | undefined => {
    const all = [...medians].filter(([contender]) => contender.kind === kind).map(([, v]) => v);
    return all.length === 0 ? undefined : Math.max(...all);
  };
  const reference = best('reference');
  for (const [contender, list] of samples) {
    const value = medians.get(contender) ?? 0;
    const failed = list.reduce((sum, sample) => sum + sample.failed, 0);
    const spread = list.map((sample) => Math.round(sample.value)).join(' ');
    const ratio = reference === undefined ? '' : `${(value / reference).toFixed(2)} x reference`;
    console.log(
      `  ${contender.name.padEnd(20)} ${String(Math.round(value)).padStart(9)}  ${ratio.padEnd(18)} failed ${failed}  ${cpuTime(list)}(${spread})`,
    );
  }
  if (reference !== undefined && question.isMemory !== true) {
    const bars = [...medians].map(([{ name }, value]) => ({
      contender: name,
      ratio: value / reference,
    }));
    rows.push({ name: question.name, bars });
  }
  const sluice = best('sluice');
  if (sluice !== undefined) judge(question, sluice, { reference, npm: best('npm') });
}

function picture(): string {
  const note = `${machine}, one core for the proxy, ${new Date().toISOString().slice(0, 10)}`;
  return drawPicture("Requests per second, to Envoy's in the same run", rows, note);
}

/** The lowest of the rounds: what else ran on the machine only adds. */
function cpuTime(list: readonly Sample[]): string {
  const times = list.flatMap(({ cpuMicroseconds: time }) => (time === undefined ? [] : [time]));
  return times.length === 0 ? '' : `CPU ${Math.min(...times).toFixed(1)} µs/request  `;
}

function judge(
  question: Question,
  sluice: number,
  others: { reference: number | undefined; npm: number | undefined },
): void {
  const line = (what: string, value: number, wanted: number): void => {
    const reached = question.isMemory === true ? value <= wanted : value >= wanted;
    console.log(
      `  ${reached ? 'reached' : 'MISSED '} ${what}: ${value.toFixed(2)} (${wanted} wanted)`,
    );
  };
  if (question.toReference !== undefined && others.reference !== undefined) {
    line('ratio to Envoy', sluice / others.reference, question.toReference);
  }
  if (question.toBestNpm !== undefined && others.npm !== undefined) {
    line('ratio to the best npm proxy', sluice / others.npm, question.toBestNpm);
  }
  if (question.limit !== undefined) line(question.unit, sluice, question.limit);
}
