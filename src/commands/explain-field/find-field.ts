/** From a path as people write it to a message or field of the API. */
import { nearestName } from '../../../shared/text/nearest-name.ts';
import type {
  ApiCatalog,
  FieldType,
  MessageType,
} from '../../../supervisor/config/api/api-catalog.ts';

export interface FoundField {
  /** The message that declares the field. */
  readonly owner: MessageType;
  /** Undefined: the path names the message itself. */
  readonly field: FieldType | undefined;
}

const BOOTSTRAP = 'envoy.config.bootstrap.v3.Bootstrap';
/** An entry of a list or map, as dumps and refusals write it. */
const ENTRY = /\[[^\]]*\]/g;
/** Messages of one short name that are listed. */
const LISTED_MAX = 8;

/**
 * A path begins at the bootstrap, or at a message by its short or whole name, or by its `@type`. A
 * text says why nothing is found.
 */
export function findField(catalog: ApiCatalog, path: string): FoundField | string {
  const words = path
    .replace(/^type\.googleapis\.com\//, '')
    .replace(ENTRY, '')
    .split('.')
    .filter((word) => word !== '' && !/^\d+$/.test(word));
  if (words.length === 0) return 'no path is given';
  const start = startOf(catalog, words);
  if (typeof start === 'string') return start;
  return follow(start.message, words.slice(start.used));
}

interface Start {
  readonly message: MessageType;
  readonly used: number;
}

function startOf(catalog: ApiCatalog, words: readonly string[]): Start | string {
  for (let used = words.length; used > 1; used--) {
    const message = catalog.findMessage(words.slice(0, used).join('.'));
    if (message !== undefined) return { message, used };
  }
  const [first = ''] = words;
  if (!/^[A-Z]/.test(first)) return { message: catalog.message(BOOTSTRAP), used: 0 };
  const names = catalog.messageNames();
  const found = messagesCalled(first, names);
  if (found.length === 1) return { message: catalog.message(found[0] ?? ''), used: 1 };
  const withNext = found
    .map((name) => catalog.message(name))
    .filter((each) => each.field(words[1] ?? ''));
  const [only] = withNext;
  if (only !== undefined && withNext.length === 1) return { message: only, used: 1 };
  if (found.length > 1) {
    const listed = found.slice(0, LISTED_MAX).map((name) => `\n  ${name}`);
    return `${first} is the name of ${found.length} messages:${listed.join('')}`;
  }
  const short = names.map((name) => name.slice(name.lastIndexOf('.') + 1));
  return `the API has no message ${first}${hint(nearestName(first, short))}`;
}

/** Those that stand within another message only where there are no others. */
function messagesCalled(name: string, names: readonly string[]): readonly string[] {
  const found = names.filter((each) => each.endsWith(`.${name}`));
  const outer = found.filter((each) => /^[^A-Z]*\.[A-Z]\w*$/.test(each));
  return outer.length > 0 ? outer : found;
}

function follow(start: MessageType, words: readonly string[]): FoundField | string {
  let owner = start;
  let field: FieldType | undefined;
  for (const word of words) {
    if (field !== undefined) {
      if (field.kind !== 'message') return `${owner.shortName}.${field.name} has no fields`;
      if (field.descriptor.type === ANY) return insideOfAny(`${owner.shortName}.${field.name}`);
      owner = field.message;
    }
    field = owner.field(word);
    if (field === undefined) {
      const names = owner.fields.map(({ name }) => name);
      return `${owner.fullName} has no field ${word}${hint(nearestName(word, names))}`;
    }
  }
  return { owner, field };
}

const ANY = 'google.protobuf.Any';

function insideOfAny(name: string): string {
  return `${name} is any message: begin at that of its @type, such as HttpConnectionManager.stat_prefix`;
}

function hint(nearest: string | undefined): string {
  return nearest === undefined ? '' : `: did you mean ${nearest}?`;
}
