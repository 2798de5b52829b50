/** Where a request's records go, and the form that they take. */
import type { TapFormat } from '../../shared/resources/tap.ts';
import type { TraceField } from './trace-message.ts';
import {
  encodeDelimitedTrace,
  encodeTrace,
  printTraceJson,
  printTraceText,
  withBodiesAsText,
} from './trace-message.ts';

/** One request's records; made with its first one. */
export interface TraceOutput {
  write(bytes: Buffer): void;
  /** No further record follows. */
  end(): void;
}

export interface TapSink {
  /** `traceId` tells the requests of a tap apart. */
  open(traceId: bigint, format: TapFormat): TraceOutput;
}

export function formatTrace(trace: readonly TraceField[], format: TapFormat): Buffer {
  switch (format) {
    case 'JSON_BODY_AS_BYTES':
      return Buffer.from(printTraceJson(trace));
    case 'JSON_BODY_AS_STRING':
      return Buffer.from(printTraceJson(withBodiesAsText(trace)));
    case 'PROTO_BINARY':
      return encodeTrace(trace);
    case 'PROTO_BINARY_LENGTH_DELIMITED':
      return encodeDelimitedTrace(trace);
    case 'PROTO_TEXT':
      return Buffer.from(printTraceText(trace));
  }
}
