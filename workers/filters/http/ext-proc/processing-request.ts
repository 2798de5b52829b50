/** Writes envoy.service.ext_proc.v3.ProcessingRequest, as protobuf and as JSON. */
import { dictionary, type Struct } from '../../../../shared/text/dictionary.ts';
import { ProtoWriter } from '../../../../shared/protobuf/proto-writer.ts';
import { writeStruct } from '../../../../shared/protobuf/struct-message.ts';
import { writeTyped } from '../../common/check-attributes.ts';
import type { HeaderPair, Part, ProcessingRequest } from './messages.ts';

/** Under which attributes are sent, however the filter is called. */
const FILTER_NAME = 'envoy.filters.http.ext_proc';

const FIELDS: Readonly<Record<Part, number>> = {
  request_headers: 2,
  response_headers: 3,
  request_body: 4,
  response_body: 5,
  request_trailers: 6,
  response_trailers: 7,
};

export function writeProcessingRequest(request: ProcessingRequest): Buffer {
  const { part, attributes, protocol } = request;
  const writer = new ProtoWriter();
  writer.message(FIELDS[part], () => writePart(writer, request));
  writer.message(8, () => {
    for (const [namespace, value] of request.metadata) {
      writer.message(1, () => {
        writer.utf8(1, namespace);
        writeStruct(writer, 2, value);
      });
    }
    for (const [namespace, any] of request.typedMetadata) writeTyped(writer, 2, namespace, any);
  });
  if (attributes !== undefined) {
    writer.message(9, () => {
      writer.utf8(1, FILTER_NAME);
      writeStruct(writer, 2, attributes);
    });
  }
  writer.integer(10, Number(request.isObserver));
  if (protocol !== undefined) {
    writer.message(11, () => {
      writer.integer(1, protocol.requestBody);
      writer.integer(2, protocol.responseBody);
      writer.integer(3, Number(protocol.sendsBodyEarly));
    });
  }
  return writer.finish();
}

function writePart(writer: ProtoWriter, request: ProcessingRequest): void {
  const { body, endOfStream } = request;
  if (body === undefined) {
    writer.message(1, () => writeHeaders(writer, request.headers));
    if (isHeaders(request.part)) writer.integer(3, Number(endOfStream));
  } else {
    writer.bytes(1, body);
    writer.integer(2, Number(endOfStream));
  }
}

function isHeaders(part: Part): boolean {
  return part === 'request_headers' || part === 'response_headers';
}

function writeHeaders(writer: ProtoWriter, headers: readonly HeaderPair[]): void {
  for (const [name, value] of headers) {
    writer.message(1, () => {
      writer.text(1, name);
      // Field 3: bytes, since a value need not be UTF-8.
      writer.text(3, value);
    });
  }
}

export function processingRequestJson(request: ProcessingRequest): string {
  const { part, attributes, protocol, metadata, isObserver, endOfStream } = request;
  const filterMetadata: Struct = dictionary(metadata);
  return JSON.stringify({
    [part]: {
      headers: { headers: request.headers.map(headerJson) },
      ...(endOfStream ? { end_of_stream: true } : {}),
    },
    metadata_context: metadata.length === 0 ? {} : { filter_metadata: filterMetadata },
    ...(attributes === undefined ? {} : { attributes: { [FILTER_NAME]: attributes } }),
    ...(isObserver ? { observability_mode: true } : {}),
    ...(protocol === undefined ? {} : { protocol_config: {} }),
  });
}

function headerJson([key, value]: HeaderPair): object {
  const raw = Buffer.from(value, 'latin1').toString('base64');
  return value === '' ? { key } : { key, raw_value: raw };
}
