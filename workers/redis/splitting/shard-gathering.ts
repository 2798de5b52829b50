/** What commands to all hosts come to: which answers have to be alike, and how others are joined. */
import {
  array,
  bulk,
  errorValue,
  integer,
  isSameValue,
  NOTHING,
  RespKind,
  type RespValue,
} from '../codec/resp-value.ts';

import { joinInfoPages } from './info-page.ts';
import type { Gathering } from './split-run.ts';

/** Joins answers that are no errors; an error in place of what they should be. */
type Join = (values: readonly RespValue[]) => RespValue;

const ALIKE = new Set([
  'script',
  'flushall',
  'flushdb',
  'select',
  'config set',
  'config rewrite',
  'config resetstat',
  'slowlog reset',
]);

const JOINS = new Map<string, Join>([
  ['config get', mergeLists],
  ['slowlog get', mergeLists],
  ['slowlog len', addNumbers],
  ['keys', mergeLists],
  ['role', collect],
]);

/** Undefined: no such command goes to all hosts. Names are in lower case. */
export function gatheringFor(
  name: string,
  subcommand: string,
  count: number,
): Gathering | undefined {
  if (name === 'info') return new ShardGathering(count, (values) => mergePages(values, subcommand));
  for (const each of [`${name} ${subcommand}`, name]) {
    if (ALIKE.has(each)) return new ShardGathering(count, onlyOne);
    const join = JOINS.get(each);
    if (join !== undefined) return new ShardGathering(count, join);
  }
  return undefined;
}

class ShardGathering implements Gathering {
  readonly #values: RespValue[];
  readonly #join: Join;

  constructor(count: number, join: Join) {
    this.#values = Array.from({ length: count }, () => NOTHING);
    this.#join = join;
  }

  take(value: RespValue, at: number): void {
    this.#values[at] = value;
  }

  result(): { readonly value: RespValue; readonly isGood: boolean } {
    const value = this.#values.find(({ isError }) => isError) ?? this.#join(this.#values);
    return { value, isGood: !value.isError };
  }
}

function onlyOne(values: readonly RespValue[]): RespValue {
  const [first = NOTHING] = values;
  const areSame = values.every((value) => isSameValue(value, first));
  return areSame ? first : errorValue('all responses not same');
}

function mergeLists(values: readonly RespValue[]): RespValue {
  return listsOnly(values) ?? array(values.flatMap(({ items }) => items));
}

function collect(values: readonly RespValue[]): RespValue {
  return listsOnly(values) ?? array(values);
}

function listsOnly(values: readonly RespValue[]): RespValue | undefined {
  const areLists = values.every(({ kind }) => kind === RespKind.array || kind === RespKind.map);
  return areLists ? undefined : errorValue('non-array response received from shard');
}

function addNumbers(values: readonly RespValue[]): RespValue {
  let sum = 0n;
  for (const { kind, text } of values) {
    if (kind !== RespKind.integer) return errorValue('non-integer response received from shard');
    if (text.startsWith('-')) return errorValue('negative value received from upstream');
    sum += BigInt(text);
  }
  return integer(sum);
}

function mergePages(values: readonly RespValue[], section: string): RespValue {
  const pages: string[] = [];
  for (const { kind, text } of values) {
    if (kind === RespKind.bulk) pages.push(text);
    // Behind the three letters of its format and a colon.
    else if (kind === RespKind.verbatim) pages.push(text.slice(4));
    else return errorValue('unexpected response type received from shard');
  }
  return bulk(joinInfoPages(pages, section));
}
