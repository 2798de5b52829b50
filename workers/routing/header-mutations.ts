/**
 * Compiles header additions and removals. One set removes first, then works all values out, then
 * overwrites, then adds: values see the message before the set changed it, as in Envoy.
 */
import type { HeaderChanges, HeaderValueOption } from '../../shared/resources/routes/headers.ts';
import type { HeaderMap } from '../stream/header-map.ts';
import { addHeader } from '../stream/joined-headers.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { compileTextFormat, literalOf } from '../substitution/compile-format.ts';
import type { Formatter } from '../substitution/compile-format.ts';

export type HeaderMutation = (headers: HeaderMap, info: StreamInfo) => void;

interface Addition {
  readonly name: string;
  readonly action: HeaderValueOption['appendAction'];
  /** The value when it is the same for every request. */
  readonly literal: string | undefined;
  readonly format: Formatter;
  readonly keepEmptyValue: boolean;
}

/** Several sets in the order given; undefined when they change nothing. */
export function compileHeaderMutations(
  sets: readonly (HeaderChanges | undefined)[],
  joined: ReadonlySet<string>,
): HeaderMutation | undefined {
  const mutations = sets
    .filter((set) => set !== undefined)
    .filter(({ add, remove }) => add.length > 0 || remove.length > 0)
    .map((set) => compileSet(set, joined));
  const [only] = mutations;
  if (mutations.length <= 1) return only;
  return (headers, info) => {
    for (const mutation of mutations) mutation(headers, info);
  };
}

function compileSet({ add, remove }: HeaderChanges, joined: ReadonlySet<string>): HeaderMutation {
  const additions = add.map(compileAddition);
  // Filled again by every call: header mutation never yields.
  const values: (string | undefined)[] = additions.map(() => undefined);
  return (headers, info) => {
    for (const name of remove) headers.remove(name);
    for (const [index, addition] of additions.entries()) {
      values[index] = valueFor(addition, headers, info);
    }
    for (const [index, { name, action }] of additions.entries()) {
      const value = values[index];
      if (value === undefined || !isOverwrite(action)) continue;
      headers.remove(name);
      headers.add(name, value);
    }
    for (const [index, { name, action }] of additions.entries()) {
      const value = values[index];
      if (value !== undefined && !isOverwrite(action)) addHeader(headers, name, value, joined);
    }
  };
}

function compileAddition(option: HeaderValueOption): Addition {
  const { name, format, appendAction, keepEmptyValue } = option;
  return {
    name,
    action: appendAction,
    literal: literalOf(format),
    format: compileTextFormat(format, { omitEmptyValues: true }),
    keepEmptyValue,
  };
}

/** The value to write, undefined when the message stays as it is. */
function valueFor(addition: Addition, headers: HeaderMap, info: StreamInfo): string | undefined {
  const value = addition.literal ?? addition.format(info);
  if (value === '' && !addition.keepEmptyValue) return undefined;
  if (addition.action === 'ADD_IF_ABSENT' && headers.has(addition.name)) return undefined;
  if (addition.action === 'OVERWRITE_IF_EXISTS' && !headers.has(addition.name)) return undefined;
  return value;
}

function isOverwrite(action: HeaderValueOption['appendAction']): boolean {
  return action === 'OVERWRITE_IF_EXISTS' || action === 'OVERWRITE_IF_EXISTS_OR_ADD';
}
