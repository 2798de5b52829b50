/**
 * A message of the API that stands in a file of its own, which a configuration names: YAML or JSON
 * by the file's name. It is read at once, so YAML has to be of the usual forms (plain-yaml.ts).
 */
import { messageFromTree, type CodecOptions } from './message-codec.ts';
import { parseJson } from './source/json-source.ts';
import { readPlainYaml } from './source/plain-yaml.ts';
import { decodeText } from './source/source-format.ts';
import type { SourceNode } from './source/source-node.ts';

/** Undefined after a reported problem. */
export function messageFromText<Message extends object>(
  options: CodecOptions,
  typeName: string,
  { format, content }: { readonly format: 'yaml' | 'json'; readonly content: Uint8Array },
): Message | undefined {
  const refuse = (message: string): undefined => {
    const { sink, place } = options;
    sink.report({ severity: 'error', place, message, rule: `${format}.syntax` });
    return undefined;
  };
  const text = decodeText(content);
  if (text === undefined) return refuse('the file is not valid UTF-8');
  let root: SourceNode | undefined;
  if (format === 'json') {
    const parsed = parseJson(text);
    if (parsed.root === undefined)
      return refuse(parsed.problems[0]?.message ?? 'the file is empty');
    ({ root } = parsed);
  } else root = readPlainYaml(text);
  if (root === undefined) {
    return refuse('the file is no YAML of the usual forms (no anchors, no texts of several lines)');
  }
  if (root.kind !== 'map') return refuse('expected an object at the top of the file');
  return messageFromTree(options, typeName, root) as Message | undefined;
}
