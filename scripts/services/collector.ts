/**
 * The OpenTelemetry collector, built of the parts that the trials need, once: it receives OTLP and
 * Zipkin spans and writes what it understood to a file, a JSON object a line.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import type { Scratch } from '../../test/support/scratch.ts';
import { built, type GoProgram, programFolder } from '../programs/go-programs.ts';
import { runProgram } from '../programs/trial.ts';
import { type RealService, startService } from './real-service.ts';

const VERSION = 'v0.158.0';
const BUILDER: GoProgram = {
  module: 'go.opentelemetry.io/collector/cmd/builder',
  version: VERSION,
  folder: 'otelcol-builder',
};
const BUILD_LIMIT_MS = 600_000;
const CORE = 'go.opentelemetry.io/collector';
const CONTRIB = 'github.com/open-telemetry/opentelemetry-collector-contrib';

export interface Collector extends RealService {
  readonly grpcPort: number;
  readonly httpPort: number;
  readonly zipkinPort: number;
  /** Everything that was received so far. */
  received(): readonly Telemetry[];
}

/** One export request as the collector's JSON has it. */
export interface Telemetry {
  readonly resourceSpans?: readonly ResourceSpans[];
  readonly resourceLogs?: readonly ResourceLogs[];
  readonly resourceMetrics?: readonly ResourceMetrics[];
}

export interface Resource {
  readonly attributes?: readonly Attribute[];
}

export interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes?: readonly Attribute[];
}

interface ResourceSpans {
  readonly resource: Resource;
  readonly scopeSpans: readonly { readonly spans: readonly Span[] }[];
}

interface ResourceLogs {
  readonly resource: Resource;
  readonly scopeLogs: readonly {
    readonly logRecords: readonly { readonly body?: { readonly stringValue?: string } }[];
  }[];
}

interface ResourceMetrics {
  readonly resource: Resource;
  readonly scopeMetrics: readonly { readonly metrics: readonly { readonly name: string }[] }[];
}

export async function startCollector(scratch: Scratch): Promise<Collector> {
  const command = await builtCollector();
  const [grpcPort, httpPort, zipkinPort] = [await freePort(), await freePort(), await freePort()];
  const output = scratch.file('received.ndjson');
  const config = scratch.file('collector.json');
  writeFileSync(config, JSON.stringify(settings(grpcPort, httpPort, zipkinPort, output)));
  const ports = [grpcPort, httpPort, zipkinPort];
  const service = await startService({ command, args: ['--config', config], ports });
  const received = (): readonly Telemetry[] => {
    const lines = existsSync(output) ? readFileSync(output, 'utf8').split('\n').slice(0, -1) : [];
    return lines.map((line) => JSON.parse(line) as Telemetry);
  };
  return { ...service, grpcPort, httpPort, zipkinPort, received };
}

function settings(grpc: number, http: number, zipkin: number, path: string): object {
  const endpoint = (port: number): object => ({ endpoint: `127.0.0.1:${port}` });
  const pipeline = { receivers: ['otlp'], exporters: ['file'] };
  return {
    receivers: {
      otlp: { protocols: { grpc: endpoint(grpc), http: endpoint(http) } },
      zipkin: endpoint(zipkin),
    },
    exporters: { file: { path, flush_interval: '100ms' } },
    service: {
      telemetry: { metrics: { level: 'none' } },
      pipelines: {
        traces: { ...pipeline, receivers: ['otlp', 'zipkin'] },
        logs: pipeline,
        metrics: pipeline,
      },
    },
  };
}

async function builtCollector(): Promise<string> {
  const folder = programFolder(`otelcol-${VERSION}`);
  const program = join(folder, 'otelcol');
  if (existsSync(program)) return program;
  const builder = await built(BUILDER);
  mkdirSync(folder, { recursive: true });
  const parts = {
    dist: { name: 'otelcol', output_path: folder },
    receivers: [
      { gomod: `${CORE}/receiver/otlpreceiver ${VERSION}` },
      { gomod: `${CONTRIB}/receiver/zipkinreceiver ${VERSION}` },
    ],
    exporters: [{ gomod: `${CONTRIB}/exporter/fileexporter ${VERSION}` }],
  };
  const config = join(folder, 'parts.json');
  writeFileSync(config, JSON.stringify(parts));
  await runProgram(builder, ['--config', config], { limitMs: BUILD_LIMIT_MS });
  return program;
}

export function spansOf(collector: Collector): readonly Span[] {
  return collector
    .received()
    .flatMap(({ resourceSpans = [] }) => resourceSpans)
    .flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
}

/** What the lines of access logs say. */
export function bodiesOf(collector: Collector): readonly string[] {
  return collector
    .received()
    .flatMap(({ resourceLogs = [] }) => resourceLogs)
    .flatMap(({ scopeLogs }) => scopeLogs.flatMap(({ logRecords }) => logRecords))
    .map(({ body }) => body?.stringValue ?? '');
}
