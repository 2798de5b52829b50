/** Reads configuration in protobuf's binary form or text format. */
import type { ApiCatalog, MessageType } from '../api/api-catalog.ts';
import { type MessageObject, isMessageObject } from '../convert/message-object.ts';
import { DecodeError, type UnknownBinaryField, decodeMessage } from '../convert/message-decoder.ts';
import type { ConfigSource, PipelineOptions } from '../read-source.ts';
import type { Problem, SourcePosition } from '../problem.ts';
import type { SourceDocument } from './source-document.ts';
import { textPositions } from './text-positions.ts';

export interface BinarySource {
  readonly document: SourceDocument;
  readonly message: MessageObject;
  readonly problems: readonly Problem[];
  readonly unknownFieldCount: number;
}

export async function readBinarySource(
  catalog: ApiCatalog,
  type: MessageType,
  source: ConfigSource,
  options: PipelineOptions,
): Promise<BinarySource> {
  const problems: Problem[] = [];
  const unknown: UnknownBinaryField[] = [];
  const message = await decodeSource(catalog, type, source, { problems, unknown });
  if (options.unknownFields !== 'ignore') {
    const severity = options.unknownFields === 'refuse' ? 'error' : 'warning';
    problems.push(...unknown.map((field) => unknownProblem(source, field, severity)));
  }
  const document = documentOf(source);
  return { document, message, problems, unknownFieldCount: unknown.length };
}

/** Places can be found in a text; bytes have none. */
export function documentOf(source: ConfigSource): SourceDocument {
  const { name } = source;
  if (source.format !== 'pb_text') {
    return { name, text: '', root: undefined };
  }
  const text = Buffer.from(source.content).toString('utf8');
  return { name, text, root: textPositions(text) };
}

async function decodeSource(
  catalog: ApiCatalog,
  type: MessageType,
  source: ConfigSource,
  found: { problems: Problem[]; unknown: UnknownBinaryField[] },
): Promise<MessageObject> {
  let bytes = source.content;
  if (source.format === 'pb_text') {
    const { encodeTextFormat } = await import('../convert/text-format.ts');
    try {
      bytes = encodeTextFormat(
        catalog,
        type.fullName,
        Buffer.from(source.content).toString('utf8'),
      );
    } catch (error) {
      found.problems.push(textProblem(source, type, String(error)));
      return {};
    }
  }
  try {
    const onUnknownField = (field: UnknownBinaryField): void => void found.unknown.push(field);
    const message = decodeMessage({ catalog, onUnknownField }, type, bytes);
    return isMessageObject(message) ? message : {};
  } catch (error) {
    if (!(error instanceof DecodeError)) {
      throw error;
    }
    found.problems.push({
      severity: 'error',
      place: error.place,
      message: error.message,
      rule: 'binary.syntax',
      position: start(source),
      reference: `Unable to parse file "${source.name}" as a binary protobuf (type ${type.fullName})`,
    });
    return {};
  }
}

function textProblem(source: ConfigSource, type: MessageType, cause: string): Problem {
  const message = cause.replace(/^\w*Error: /, '');
  const line = /line (\d+)/.exec(message)?.[1];
  return {
    severity: 'error',
    place: undefined,
    message,
    rule: 'text.syntax',
    position: { ...start(source), line: Number(line ?? 1) },
    reference: `Unable to parse file "${source.name}" as a text protobuf (type ${type.fullName})`,
  };
}

function unknownProblem(
  source: ConfigSource,
  { type, number, place }: UnknownBinaryField,
  severity: Problem['severity'],
): Problem {
  return {
    severity,
    place,
    message: `unknown field number ${number} in ${type.fullName}`,
    rule: 'unknown_field',
    position: start(source),
    reference: `Protobuf message (type ${type.fullName}(root) with unknown field set {${number}}) has unknown fields`,
  };
}

function start(source: ConfigSource): SourcePosition {
  return { source: source.name, line: 1, column: 1 };
}
