/** Records of the OpenTelemetry protocol: opentelemetry.proto.logs.v1.LogRecord, encoded. */
import type {
  LogValue,
  LogValues,
  OpenTelemetryLogConfig,
} from '../../../../shared/resources/access-loggers/open-telemetry.ts';
import { ProtoWriter } from '../../../../shared/protobuf/proto-writer.ts';
import type { StreamInfo } from '../../../stream/stream-info.ts';
import { compileTextFormat } from '../../../substitution/compile-format.ts';
import { repairUtf8 } from '../../../tap/repair-utf8.ts';
import { compileTags, visitTags } from '../../../telemetry/custom-tags.ts';
import { writeAttribute, writeTextValue } from '../../../telemetry/otlp-values.ts';

/** What stands for a byte that is not UTF-8. */
const NO_TEXT = '!';
const TRACE_ID_DIGITS = 32;

type WriteValue = (writer: ProtoWriter, info: StreamInfo) => void;

export type EncodeRecord = (info: StreamInfo) => Buffer;

export function compileRecord(config: OpenTelemetryLogConfig): EncodeRecord {
  const { body, attributes, customTags } = config;
  const writeBody = body && compileValue(body);
  const writeAttributes = compileEntries(attributes);
  const tags = compileTags(customTags);
  return (info) => {
    const writer = new ProtoWriter();
    writer.fixed64(1, BigInt(Math.floor(info.startWallMs * 1000)) * 1000n);
    if (writeBody !== undefined) writer.message(5, () => writeBody(writer, info));
    writeAttributes(writer, 6, info);
    visitTags(tags, info, (name, value) => writeAttribute(writer, 6, name, value));
    writeTrace(writer, info);
    return writer.finish();
  };
}

/** Ids of 64 bits are filled up. */
function writeTrace(writer: ProtoWriter, { trace }: StreamInfo): void {
  if (trace === undefined) return;
  if (isHex(trace.traceId)) {
    writer.bytes(9, Buffer.from(trace.traceId.padStart(TRACE_ID_DIGITS, '0'), 'hex'));
  }
  if (isHex(trace.spanId)) writer.bytes(10, Buffer.from(trace.spanId, 'hex'));
}

/** Some tracers have ids of another kind. */
function isHex(id: string): boolean {
  return /^(?:[0-9a-f]{16}){1,2}$/i.test(id);
}

function compileValue(value: LogValue): WriteValue {
  switch (value.kind) {
    case 'text': {
      const format = compileTextFormat(value.format, { omitEmptyValues: false });
      return (writer, info) => writeTextValue(writer, repairUtf8(format(info), NO_TEXT));
    }
    case 'list': {
      const items = value.items.map(compileValue);
      return (writer, info) =>
        writer.message(5, () => {
          for (const item of items) writer.message(1, () => item(writer, info));
        });
    }
    case 'map': {
      const entries = compileEntries(value.entries);
      return (writer, info) => writer.message(6, () => entries(writer, 1, info));
    }
  }
}

function compileEntries(
  values: LogValues,
): (writer: ProtoWriter, field: number, info: StreamInfo) => void {
  const entries = values.map(([name, value]) => ({ name, write: compileValue(value) }));
  return (writer, field, info) => {
    for (const entry of entries) {
      writer.message(field, () => {
        writer.text(1, entry.name);
        writer.message(2, () => entry.write(writer, info));
      });
    }
  };
}
