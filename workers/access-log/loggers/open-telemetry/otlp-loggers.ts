/** Loggers whose records go to a collector by the OpenTelemetry protocol, in batches. */
import { toByteString } from '../../../../shared/regex/byte-string.ts';
import type { OpenTelemetryLogConfig } from '../../../../shared/resources/access-loggers/open-telemetry.ts';
import type { ResourceAttributes } from '../../../../shared/resources/telemetry/collector.ts';
import { OTLP_ACCESS_LOG } from '../../../../shared/stats/templates/telemetry.ts';
import { ProtoWriter } from '../../../../shared/protobuf/proto-writer.ts';
import { BatchSender } from '../../../telemetry/batch-sender.ts';
import { otlpCollector } from '../../../telemetry/collector.ts';
import { writeResource } from '../../../telemetry/otlp-values.ts';
import type { Logger, LoggerEnv, Loggers } from '../../logger.ts';
import { compileRecord } from './log-record.ts';

const METHOD = '/opentelemetry.proto.collector.logs.v1.LogsService/Export';
const SCOPE = 'access_logs.open_telemetry_access_log.';
/** Records that wait while the collector takes its time. */
const WAITING_MAX = 16_384;
/** For the last answers, when the worker ends. */
const LAST_ANSWERS_MS = 1000;
const { index } = OTLP_ACCESS_LOG;

export class OpenTelemetryLoggers implements Loggers<OpenTelemetryLogConfig> {
  readonly #env: LoggerEnv;
  readonly #senders = new Set<BatchSender>();

  constructor(env: LoggerEnv) {
    this.#env = env;
  }

  open(config: OpenTelemetryLogConfig): Logger {
    const { stats, loop } = this.#env;
    const encode = compileRecord(config);
    const base = stats.defineBlock(OTLP_ACCESS_LOG, `${SCOPE}${config.statPrefix}`);
    const collector = otlpCollector(config.exporter, METHOD, this.#env, config.userAgent);
    const { bufferBytes: bytes, flushIntervalMs: ms } = config;
    const resource = resourceOf(config, this.#env.heritage.node);
    const sender = new BatchSender({
      loop,
      limits: () => ({ bytes, ms }),
      waitingMax: WAITING_MAX,
      send: (records, done) => {
        stats.add(base + index.logs_written, records.length);
        collector.send(encodeRequest(resource, records), done);
      },
      onDropped: (records) => stats.add(base + index.logs_dropped, records),
    });
    this.#senders.add(sender);
    return {
      write: (info) => sender.add(encode(info)),
      release: () => {
        this.#senders.delete(sender);
        sender.release();
        collector.release();
        stats.releaseBlock(base);
      },
    };
  }

  async close(): Promise<void> {
    const all = [...this.#senders];
    this.#env.loop.run(undefined, () => {
      for (const sender of all) sender.flush();
    });
    const limit = new Promise<void>((resolve) => {
      this.#env.clock.after(LAST_ANSWERS_MS, resolve, { unref: true });
    });
    await Promise.race([limit, Promise.all(all.map((sender) => sender.settled()))]);
  }
}

/** Envoy's own labels come first. */
function resourceOf(
  { hasBuiltInLabels, logName, resource }: OpenTelemetryLogConfig,
  { id, cluster, zone }: LoggerEnv['heritage']['node'],
): ResourceAttributes {
  if (!hasBuiltInLabels) return resource;
  return [
    ['log_name', logName],
    ['zone_name', toByteString(zone)],
    ['cluster_name', toByteString(cluster)],
    ['node_name', toByteString(id)],
    ...resource,
  ];
}

function encodeRequest(resource: ResourceAttributes, records: readonly Buffer[]): Buffer {
  const writer = new ProtoWriter();
  writer.message(1, () => {
    writeResource(writer, resource);
    writer.message(2, () => {
      for (const record of records) writer.bytes(2, record);
    });
  });
  return writer.finish();
}
