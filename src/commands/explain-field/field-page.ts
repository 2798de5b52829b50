/** What is printed of a field, or of a message with its fields. */
import type { FieldRules } from '../../../shared/api/descriptor.ts';
import type { FieldType, MessageType } from '../../../supervisor/config/api/api-catalog.ts';
import type { FoundField } from './find-field.ts';

export type Comments = ReadonlyMap<string, ReadonlyMap<string, string>>;

const WIDTH = 100;
/** How values of the well-known types are written. */
const WELL_KNOWN: ReadonlyMap<string, string> = new Map([
  ['Duration', 'a duration, such as 0.25s'],
  ['Timestamp', 'a time, such as 2030-01-31T12:00:00Z'],
  ['Any', 'any message: its @type, and the fields of that'],
  ['Struct', 'an object of any members'],
  ['Value', 'anything'],
  ['BoolValue', 'true or false; not given is neither'],
  ['StringValue', 'a string; not given is not empty'],
  ['BytesValue', 'bytes in base64; not given is not empty'],
  ['Empty', 'an object without members'],
]);

export function fieldPage({ owner, field }: FoundField, comments: Comments): string {
  if (field === undefined) return messagePage(owner, comments);
  const said = comments.get(owner.fullName)?.get(field.name);
  const lines = [
    `${owner.fullName}.${field.name}`,
    `  type     ${typeOf(field)}`,
    `  default  ${defaultOf(field)}`,
    ...statusLines(owner, field),
    ...(said === undefined ? [] : ['', ...wrapped(said)]),
  ];
  const below =
    field.kind === 'message' && !field.message.isWellKnown
      ? fieldLines(field.message, comments)
      : [];
  return `${[...lines, ...below].join('\n')}\n`;
}

function messagePage(message: MessageType, comments: Comments): string {
  return `${[message.fullName, ...fieldLines(message, comments)].join('\n')}\n`;
}

function fieldLines(message: MessageType, comments: Comments): readonly string[] {
  const width = Math.max(0, ...message.fields.map(({ name }) => name.length));
  const rows = message.fields.map((field) => {
    const [first = ''] = (comments.get(message.fullName)?.get(field.name) ?? '').split(/(?<=\.) /);
    return `  ${field.name.padEnd(width)}  ${first === '' ? typeOf(field) : first}`;
  });
  return ['', `fields of ${message.fullName}:`, ...rows];
}

function typeOf(field: FieldType): string {
  const { mapKey } = field.descriptor;
  if (mapKey !== undefined) return `a map from ${mapKey} to ${oneOf(field)}`;
  return field.isList ? `a list of ${oneOf(field)}` : oneOf(field);
}

function oneOf(field: FieldType): string {
  if (field.kind === 'enum') {
    return `one of ${Object.keys(field.enum.descriptor.values).join(', ')}`;
  }
  if (field.kind !== 'message') return field.kind === 'bytes' ? 'bytes in base64' : field.kind;
  const { fullName, shortName, isWellKnown } = field.message;
  if (!isWellKnown) return fullName;
  return (
    WELL_KNOWN.get(shortName) ?? `${shortName.replace('Value', '').toLowerCase()}, or not given`
  );
}

function defaultOf(field: FieldType): string {
  if (field.isList || field.isMap) return 'none';
  if (field.kind === 'message' || field.hasPresence) return 'not given';
  if (field.kind === 'bool') return 'false';
  if (field.kind === 'string' || field.kind === 'bytes') return 'empty';
  if (field.kind !== 'enum') return '0';
  const { values } = field.enum.descriptor;
  return Object.keys(values).find((name) => values[name] === 0) ?? '0';
}

function statusLines(owner: MessageType, { descriptor }: FieldType): readonly string[] {
  const { oneof, rules } = descriptor;
  const group = oneof === undefined ? undefined : owner.oneofs[oneof];
  const members = owner.fields.filter((each) => each.descriptor.oneof === oneof);
  const others = members.map(({ name }) => name).filter((name) => name !== descriptor.name);
  return [
    ...(group === undefined || others.length === 0
      ? []
      : [`  instead  ${others.join(', ')}${group.required === true ? ' (one is needed)' : ''}`]),
    ...(rules === undefined ? [] : rulesOf(rules).map((rule) => `  rule     ${rule}`)),
    ...(descriptor.deprecated === true ? ['  status   deprecated'] : []),
    ...(descriptor.workInProgress === true ? ['  status   work in progress in the API'] : []),
    ...(descriptor.sensitive === true ? ['  status   secret: left out of dumps'] : []),
  ];
}

function rulesOf({ message, ...families }: FieldRules): readonly string[] {
  const required = message?.required === true ? ['must be given'] : [];
  const rules = Object.values(families).flatMap((family) =>
    Object.entries((family ?? {}) as object).map(([name, value]) => ruleOf(name, value)),
  );
  return [...required, ...rules];
}

/** Rules by their names, with the value behind the words. */
const RULES: ReadonlyMap<string, string> = new Map([
  ['gt', 'greater than'],
  ['gte', 'at least'],
  ['lt', 'less than'],
  ['lte', 'at most'],
  ['const', 'always'],
  ['in', 'one of'],
  ['not_in', 'none of'],
  ['len', 'characters, exactly:'],
  ['min_len', 'characters, at least:'],
  ['max_len', 'characters, at most:'],
  ['min_bytes', 'bytes, at least:'],
  ['max_bytes', 'bytes, at most:'],
  ['min_items', 'entries, at least:'],
  ['max_items', 'entries, at most:'],
  ['min_pairs', 'entries, at least:'],
  ['max_pairs', 'entries, at most:'],
  ['pattern', 'matches'],
]);

function ruleOf(name: string, value: unknown): string {
  if (value === true) return name.replaceAll('_', ' ');
  return `${RULES.get(name) ?? name} ${valueText(value)}`;
}

function valueText(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return JSON.stringify(value);
  }
  const { seconds, nanos, ...rest } = value as { seconds?: number; nanos?: number };
  if (Object.keys(rest).length > 0) return JSON.stringify(value);
  return `${Number(seconds ?? 0) + Number(nanos ?? 0) / 1e9}s`;
}

function wrapped(text: string): readonly string[] {
  const lines = [''];
  for (const word of text.split(' ')) {
    const last = lines.at(-1) ?? '';
    if (last !== '' && last.length + word.length >= WIDTH) lines.push(`  ${word}`);
    else lines[lines.length - 1] = last === '' ? `  ${word}` : `${last} ${word}`;
  }
  return lines;
}
