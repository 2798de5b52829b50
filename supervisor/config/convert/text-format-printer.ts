/**
 * Prints normalised messages in protobuf's text format, as Envoy shows them in errors. What the
 * API marks as sensitive is left out of what it prints.
 */
import { REDACTED } from '../../../shared/text/secret-names.ts';
import { quoteTextFormat } from '../../../shared/text/text-format-escapes.ts';
import type { ApiCatalog, FieldType, MessageType } from '../api/api-catalog.ts';
import { type MessageObject, isMessageObject, textOf } from './message-object.ts';
import { toFields } from './well-known-form.ts';

/** Two spaces of indentation a level; a line feed at the end unless the message is empty. */
export function printTextFormat(
  catalog: ApiCatalog,
  type: MessageType,
  value: unknown,
  indent = '',
): string {
  if (type.fullName === 'google.protobuf.Any') return printAny(catalog, value, indent);
  const fields: MessageObject = toFields(type.fullName, value);
  let text = '';
  for (const field of type.fields.toSorted((left, right) => left.number - right.number)) {
    if (!Object.hasOwn(fields, field.name) || isUnset(field, fields[field.name])) continue;
    if (field.descriptor.sensitive === true) {
      text += `${indent}${field.name}: ${REDACTED}\n`;
      continue;
    }
    for (const item of valuesOf(field, fields[field.name])) {
      text += `${indent}${field.name}${printValue(catalog, field, item, indent)}\n`;
    }
  }
  return text;
}

/** For an error's text: the message with the word that Envoy puts before it. */
export function printForError(catalog: ApiCatalog, type: MessageType, value: unknown): string {
  return `goo.gle/debugstr  \n${printTextFormat(catalog, type, value)}`;
}

/** Well-known types in their fields have zeros, which only a field with presence shows. */
function isUnset({ hasPresence, kind }: FieldType, value: unknown): boolean {
  if (hasPresence || kind === 'message') return false;
  return value === 0 || value === false || value === '' || (value === '0' && kind !== 'string');
}

/** Entries of a map are messages of a key and a value. */
function valuesOf(field: FieldType, value: unknown): readonly unknown[] {
  if (field.isList) return Array.isArray(value) ? (value as readonly unknown[]) : [];
  return field.isMap ? Object.entries(isMessageObject(value) ? value : {}) : [value];
}

function printValue(catalog: ApiCatalog, field: FieldType, value: unknown, indent: string): string {
  if (!field.isMap) return printSingle(catalog, field, value, indent);
  const [key, inner] = value as readonly [string, unknown];
  const deeper = `${indent}  `;
  const entry = printSingle(catalog, field, inner, deeper);
  return ` {\n${deeper}key: ${quoteText(key)}\n${deeper}value${entry}\n${indent}}`;
}

function printSingle(
  catalog: ApiCatalog,
  field: FieldType,
  value: unknown,
  indent: string,
): string {
  switch (field.kind) {
    case 'message':
      return ` {\n${printTextFormat(catalog, field.message, value, `${indent}  `)}${indent}}`;
    case 'string':
      return `: ${quoteText(textOf(value))}`;
    case 'bytes':
      return `: ${quoteTextFormat(Buffer.from(textOf(value), 'base64').toString('latin1'))}`;
    default:
      return `: ${String(value)}`;
  }
}

function printAny(catalog: ApiCatalog, value: unknown, indent: string): string {
  const any = isMessageObject(value) ? value : {};
  const url = textOf(any['@type']);
  const type = catalog.findMessage(url.slice(url.lastIndexOf('/') + 1));
  if (type === undefined) return '';
  const isWrapped = type.fullName.startsWith('google.protobuf.');
  const inner = printTextFormat(catalog, type, isWrapped ? any['value'] : any, `${indent}  `);
  return `${indent}[${url}] {\n${inner}${indent}}\n`;
}

function quoteText(text: string): string {
  return quoteTextFormat(Buffer.from(text).toString('latin1'));
}
