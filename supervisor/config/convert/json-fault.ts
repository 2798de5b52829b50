/**
 * What Envoy says of a text that is no JSON. Its parser reads the text and the message in one go,
 * and so names the field in which the mistake stands and what that field would begin with.
 */
import type { FieldType, MessageType } from '../api/api-catalog.ts';
import type { JsonFault } from '../source/source-node.ts';

/** The first line that Envoy would print: a text that begins with no brace is read no further. */
export function jsonFaultLine(root: MessageType, fault: JsonFault, text: string): string {
  const first = text.trimStart().charAt(0);
  if (first !== '' && first !== '{') {
    const words = `unexpected character: '${first}'; expected '{'`;
    return `Unable to parse JSON as proto (INVALID_ARGUMENT: invalid JSON in ${root.fullName}: ${words})`;
  }
  const { subject, field } = placeOf(root, fault.path);
  const wanted = fault.isValueStart ? wantedBy(field, fault.words) : fault.words;
  const words = fault.hasPlace
    ? `invalid JSON in ${root.fullName}${subject}: ${wanted}`
    : fault.words;
  return `Unable to parse JSON as proto (INVALID_ARGUMENT: ${words})`;
}

interface FaultPlace {
  /** ` @ admin.address: message envoy.config.core.v3.Address`; nothing for the whole. */
  readonly subject: string;
  /** The field whose value it is; undefined where nothing is known of it. */
  readonly field: FieldType | undefined;
}

/**
 * As far as the fields are known: what stands in an unknown one belongs to the message around it.
 */
function placeOf(root: MessageType, path: JsonFault['path']): FaultPlace {
  let type: MessageType | undefined = root;
  let field: FieldType | undefined = undefined;
  let text = '';
  for (const key of path) {
    if (typeof key === 'number') {
      text += `[${key}]`;
      continue;
    }
    const next: FieldType | undefined = type?.field(key);
    if (next === undefined || type?.isWellKnown === true) {
      const what = field === undefined ? '' : ` @ ${text}: ${describeField(field)}`;
      return { subject: what, field: undefined };
    }
    text += text === '' ? next.name : `.${next.name}`;
    field = next;
    type = next.kind === 'message' && !next.isMap ? next.message : undefined;
  }
  return { subject: field === undefined ? '' : ` @ ${text}: ${describeField(field)}`, field };
}

export function describeField(field: FieldType): string {
  const { type } = field.descriptor;
  return type === undefined ? field.kind : `${field.kind} ${type}`;
}

function wantedBy(field: FieldType | undefined, words: string): string {
  switch (field?.kind) {
    case undefined:
      return words;
    case 'message':
      return `${words}; expected '{'`;
    case 'string':
    case 'bytes':
      return `${words}; expected '"'`;
    case 'bool':
      return "expected 'true' or 'false'";
    default:
      return 'expected number or string';
  }
}
