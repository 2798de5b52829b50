/**
 * Single messages between normalised form, JSON values and bytes, for what does not come from a
 * file of its own: xDS resources, opaque extension configuration, admin requests.
 */
import { typeNameOf } from './type-name.ts';
import type { ApiCatalog } from './api/api-catalog.ts';
import { decodeMessage } from './convert/message-decoder.ts';
import { encodeMessage } from './convert/message-encoder.ts';
import { type MessageObject, isMessageObject, textOf } from './convert/message-object.ts';
import { MessageReader } from './convert/message-reader.ts';
import type { UnknownFields } from './convert/reader-options.ts';
import type { Place, ProblemSink } from './problem.ts';
import type { SourceNode } from './source/source-node.ts';
import { checkConstraints } from './validate/constraint-checker.ts';

export interface CodecOptions {
  readonly catalog: ApiCatalog;
  readonly sink: ProblemSink;
  readonly unknownFields: UnknownFields;
  /** Where the message stands in the one around it. */
  readonly place?: Place;
}

/** Reads a JSON value (as from JSON.parse) as a message and checks it; undefined after errors. */
export function messageFromJson(
  options: CodecOptions,
  typeName: string,
  value: unknown,
): MessageObject | undefined {
  return messageFromTree(options, typeName, nodeOf(value));
}

/** The same of a text that was read as a tree. */
export function messageFromTree(
  options: CodecOptions,
  typeName: string,
  root: SourceNode,
): MessageObject | undefined {
  const counted = countErrors(options.sink);
  const type = options.catalog.message(typeName);
  const reader = new MessageReader({
    catalog: options.catalog,
    unknownFields: options.unknownFields,
    report: (problem) => counted.sink.report(problem),
  });
  const message = reader.read(type, root, options.place);
  if (message !== undefined) {
    const { catalog, place } = options;
    const { incomplete } = reader;
    checkConstraints({ catalog, sink: counted.sink, incomplete }, type, message, place);
  }
  return counted.errors() > 0 ? undefined : message;
}

/** Decodes and checks; undefined after errors. Throws DecodeError when the bytes are no message. */
export function messageFromBinary(
  options: CodecOptions,
  typeName: string,
  bytes: Uint8Array,
): MessageObject | undefined {
  const counted = countErrors(options.sink);
  const type = options.catalog.message(typeName);
  const { catalog, place } = options;
  const message = decodeMessage(
    {
      catalog,
      onUnknownField: (field) => {
        if (options.unknownFields !== 'ignore') {
          counted.sink.report({
            severity: options.unknownFields === 'refuse' ? 'error' : 'warning',
            place: field.place,
            message: `unknown field number ${field.number} in ${field.type.fullName}`,
            rule: 'unknown_field',
          });
        }
      },
    },
    type,
    bytes,
    place,
  );
  if (!isMessageObject(message)) {
    return undefined;
  }
  checkConstraints(
    { catalog, sink: counted.sink, incomplete: new WeakSet() },
    type,
    message,
    place,
  );
  return counted.errors() > 0 ? undefined : message;
}

/** The message must be normalised. */
export function messageToBinary(
  catalog: ApiCatalog,
  typeName: string,
  message: MessageObject,
): Uint8Array {
  return encodeMessage(catalog, catalog.message(typeName), message);
}

const opaqueTypes: ReadonlySet<string> = new Set([
  'xds.type.v3.TypedStruct',
  'udpa.type.v1.TypedStruct',
]);

/**
 * What an Any holds: its type's full name and itself; for a TypedStruct, the type that it names
 * and its value read as that type. Undefined after reported problems.
 */
export function unpackAny(
  options: CodecOptions,
  any: MessageObject,
): { readonly typeName: string; readonly message: MessageObject } | undefined {
  const typeName = typeNameOf(textOf(any['@type']));
  if (!opaqueTypes.has(typeName)) {
    return { typeName, message: any };
  }
  const url = textOf(any['type_url']);
  const inner = typeNameOf(url);
  if (options.catalog.findMessage(inner) === undefined) {
    options.sink.report({
      severity: 'error',
      place: options.place,
      message: `unknown type '${url}'`,
      rule: 'any.unknown_type',
    });
    return undefined;
  }
  const message = messageFromJson(options, inner, any['value'] ?? {});
  return message === undefined
    ? undefined
    : { typeName: inner, message: { '@type': url, ...message } };
}

function countErrors(sink: ProblemSink): { sink: ProblemSink; errors: () => number } {
  let errors = 0;
  return {
    sink: {
      report: (problem) => {
        errors += problem.severity === 'error' ? 1 : 0;
        sink.report(problem);
      },
    },
    errors: () => errors,
  };
}

function nodeOf(value: unknown): SourceNode {
  if (Array.isArray(value)) {
    return { kind: 'list', items: value.map(nodeOf), offset: 0 };
  }
  switch (typeof value) {
    case 'string':
      return { kind: 'string', value, offset: 0 };
    case 'boolean':
      return { kind: 'boolean', value, offset: 0 };
    case 'number':
      return { kind: 'number', value: String(value), offset: 0 };
    default:
      return isMessageObject(value) ? mapNode(value) : { kind: 'null', value: null, offset: 0 };
  }
}

function mapNode(value: MessageObject): SourceNode {
  const entries = Object.entries(value).map(([key, item]) => ({
    key,
    keyOffset: 0,
    value: nodeOf(item),
  }));
  return { kind: 'map', entries, offset: 0 };
}
