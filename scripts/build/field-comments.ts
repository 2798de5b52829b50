/**
 * What the API's authors say of each field, shortened: the first paragraph, and further sentences that
 * speak of a default. `sluice explain-field` prints it.
 */
import protobuf from 'protobufjs';
import { brotliCompressSync } from 'node:zlib';
import type { FieldComments } from '../../shared/api/descriptor.ts';

/** Of one field; the package has room for no more. */
const CHARACTERS_MAX = 240;

type Collected = Map<string, Map<string, string>>;

/** Later files add to earlier ones, as the declarations do. */
export function fieldComments(sources: readonly { readonly text: string }[]): FieldComments {
  const comments: Collected = new Map();
  for (const { text } of sources) {
    const options = { keepCase: true, alternateCommentMode: true };
    addComments(protobuf.parse(text, new protobuf.Root(), options).root, comments);
  }
  return [...comments].map(([message, fields]) => [message, [...fields]]);
}

export function packedComments(comments: FieldComments): Buffer {
  return brotliCompressSync(JSON.stringify(comments));
}

function addComments(parent: protobuf.NamespaceBase, comments: Collected): void {
  for (const item of parent.nestedArray) {
    if (item instanceof protobuf.Type) {
      const name = item.fullName.replace(/^\./, '');
      for (const field of item.fieldsArray) {
        const text = shortened(field.comment ?? '');
        if (text === '') continue;
        const fields = comments.get(name) ?? new Map<string, string>();
        comments.set(name, fields.set(field.name, text));
      }
    }
    if (item instanceof protobuf.Namespace) addComments(item, comments);
  }
}

function shortened(comment: string): string {
  const paragraphs = plain(comment)
    .split(/\n\s*\n/)
    .map((each) => each.replace(/\s+/g, ' ').trim())
    .filter((each) => each !== '' && !/^(\.\.|\*|-) ?/.test(each));
  const [first = '', ...rest] = paragraphs;
  const sentences = rest.join(' ').split(/(?<=\.) /);
  const text = [first, ...sentences.filter((each) => /\bdefault/i.test(each))].join(' ');
  if (text.length <= CHARACTERS_MAX) return text;
  return `${text.slice(0, CHARACTERS_MAX).replace(/\s+\S*$/, '')} …`;
}

/** Without the marks of reStructuredText and of the API's own tools. */
function plain(comment: string): string {
  return comment
    .replace(/\[#[^\]]*\]/g, '')
    .replace(/:\w+:`([^`<]*?)\s*<[^>]*>`/g, '$1')
    .replace(/:\w+:`([^`]*)`/g, '$1')
    .replace(/`([^`<]*?)\s*<[^>]*>`_{1,2}/g, '$1')
    .replaceAll('``', '`');
}
