/** The library `string`. */
import { isFunction, typeName } from '../call-state.ts';
import type { LuaState } from '../lua-state.ts';
import { isTrue, textOf } from '../lua-state.ts';
import { LuaTable } from '../lua-table.ts';
import {
  firstOf,
  type HostFunction,
  LuaFunction,
  type LuaValue,
  type Results,
  type Running,
} from '../values.ts';
import { Arguments } from './check-arguments.ts';
import { PatternError, PatternMatch } from './pattern.ts';
import { formatString } from './string-format.ts';

/** Results of one call. */
const RESULTS_MAX = 8000;
/** Steps of a gsub's pattern after which others get their turn. */
const GSUB_SLICE_STEPS = 5000;
/** What making one replacement counts as. */
const REPLACEMENT_STEPS = 10;
const MAGIC = /[\^$*+?.([%-]/;

export function stringLibrary(state: LuaState): Record<string, HostFunction | LuaFunction> {
  const check = new Arguments(state);
  const made = <Text extends string>(text: Text): Text => {
    state.charge(text.length);
    return text;
  };
  return {
    len: (...args) => check.text(args, 0).length,
    lower: (...args) => made(check.text(args, 0).replace(/[A-Z]+/g, (each) => each.toLowerCase())),
    upper: (...args) => made(check.text(args, 0).replace(/[a-z]+/g, (each) => each.toUpperCase())),
    reverse: (...args) => made(reversed(check.text(args, 0))),
    sub: (...args) =>
      sliced(
        check.text(args, 0),
        check.optionalInteger(args, 1, 1),
        check.optionalInteger(args, 2, -1),
      ),
    byte: (...args) => {
      const first = check.optionalInteger(args, 1, 1);
      const text = sliced(check.text(args, 0), first, check.optionalInteger(args, 2, first));
      if (text.length > RESULTS_MAX) throw state.hostFailure('string slice too long');
      return text.length === 1
        ? text.charCodeAt(0)
        : Array.from(text, (each) => each.charCodeAt(0));
    },
    char: (...args) =>
      String.fromCharCode(
        ...args.map((_each, at) => {
          const code = check.integer(args, at);
          if (code < 0 || code > 0xff) throw state.argumentFailure(at + 1, 'invalid value');
          return code;
        }),
      ),
    rep: (...args) => repeated(state, check, args),
    format: (...args) => formatString(state, check, args),
    find: (...args) => search(state, { check, args, isFind: true }),
    match: (...args) => search(state, { check, args, isFind: false }),
    gmatch: (...args) => eachMatch(state, check.text(args, 0), check.text(args, 1)),
    gsub: new LuaFunction((...args) => replaced(state, check, args)),
    dump: () => {
      throw state.hostFailure('string.dump is not available here');
    },
  };
}

function repeated(state: LuaState, check: Arguments, args: readonly LuaValue[]): string {
  const text = check.text(args, 0);
  const count = Math.max(0, check.integer(args, 1));
  const separator = check.optionalText(args, 2, '');
  const bytes = (text.length + separator.length) * count;
  if (bytes === 0) return '';
  state.checkLength(bytes);
  state.charge(bytes);
  return separator === '' ? text.repeat(count) : (text + separator).repeat(count - 1) + text;
}

/** Strings of scripts are bytes. */
function reversed(text: string): string {
  return Buffer.from(text, 'latin1').reverse().toString('latin1');
}

/** As `string.sub` counts: from 1, and back from the end. */
function sliced(text: string, from: number, to: number): string {
  const start = from < 0 ? Math.max(0, text.length + from) : Math.max(0, from - 1);
  const end = to < 0 ? text.length + to + 1 : to;
  return end <= start ? '' : text.slice(start, end);
}

interface Search {
  readonly check: Arguments;
  readonly args: readonly LuaValue[];
  readonly isFind: boolean;
}

function search(state: LuaState, { check, args, isFind }: Search): Results {
  const text = check.text(args, 0);
  const pattern = check.text(args, 1);
  const from = check.optionalInteger(args, 2, 1);
  const start = from < 0 ? Math.max(0, text.length + from) : Math.max(0, from - 1);
  if (start > text.length) return undefined;
  if (isFind && (isTrue(args[3]) || !MAGIC.test(pattern))) {
    const at = text.indexOf(pattern, start);
    state.spend((at < 0 ? text.length - start : at - start) >> 6);
    return at < 0 ? undefined : [at + 1, at + pattern.length];
  }
  return atPlace(state, () => {
    const match = new PatternMatch(text, pattern);
    try {
      return found(match, { text, pattern, start, isFind });
    } finally {
      state.spend(match.steps >> 3);
    }
  });
}

function found(
  match: PatternMatch,
  {
    text,
    pattern,
    start,
    isFind,
  }: { text: string; pattern: string; start: number; isFind: boolean },
): Results {
  const isAnchored = pattern.startsWith('^');
  for (let at = start; at <= text.length; at++) {
    const end = match.at(at, isAnchored ? 1 : 0);
    if (end >= 0) {
      if (!isFind) return match.captures(at, end);
      return match.captureCount === 0 ? [at + 1, end] : [at + 1, end, ...match.captures(at, end)];
    }
    if (isAnchored) break;
  }
  return undefined;
}

/** Errors of a pattern say where it was used. */
function atPlace<Result>(state: LuaState, act: () => Result): Result {
  const { site } = state;
  try {
    return act();
  } catch (error) {
    if (!(error instanceof PatternError)) throw error;
    state.site = site;
    throw state.hostFailure(error.message);
  }
}

function eachMatch(state: LuaState, text: string, pattern: string): HostFunction {
  let at = 0;
  return () =>
    atPlace(state, () => {
      const match = new PatternMatch(text, pattern);
      for (; at <= text.length; at++) {
        const end = match.at(at, 0);
        if (end < 0) continue;
        const captures = match.captures(at, end);
        at = end === at ? end + 1 : end;
        state.spend(match.steps >> 3);
        return captures;
      }
      state.spend(match.steps >> 3);
      return undefined;
    });
}

function* replaced(state: LuaState, check: Arguments, args: readonly LuaValue[]): Running {
  const text = check.text(args, 0);
  const pattern = check.text(args, 1);
  const replacement = args[2];
  if (
    textOf(replacement) === undefined &&
    !(replacement instanceof LuaTable) &&
    !isFunction(replacement)
  ) {
    throw state.argumentFailure(3, 'string/function/table expected');
  }
  const limit = check.optionalNumber(args, 3, Infinity);
  const isAnchored = pattern.startsWith('^');
  const { site } = state;
  const match = new PatternMatch(text, pattern);
  const parts: string[] = [];
  // What is behind `kept` and before `at` stays as it is.
  let [at, kept, count] = [0, 0, 0];
  while (count < limit) {
    const start = at;
    const end = atPlace(state, () => match.at(start, isAnchored ? 1 : 0));
    if (end >= 0) {
      count += 1;
      const by = atPlace(state, () => replacementOf(state, { replacement, match, start, end }));
      state.charge(by.length + PART_BYTES);
      parts.push(text.slice(kept, at), by);
      kept = end;
      match.steps += REPLACEMENT_STEPS;
    }
    if (end > at) at = end;
    else if (at < text.length) at += 1;
    else break;
    if (isAnchored) break;
    if (match.steps < GSUB_SLICE_STEPS) continue;
    state.spend(match.steps >> 3);
    match.steps = 0;
    yield* state.pause();
    state.site = site;
  }
  state.spend(match.steps >> 3);
  const result = parts.join('') + text.slice(kept);
  state.checkLength(result.length);
  state.charge(result.length);
  return [result, count];
}

/** Rough size of a piece of a result that is not put together yet. */
const PART_BYTES = 32;

interface Replacement {
  readonly replacement: LuaValue;
  readonly match: PatternMatch;
  readonly start: number;
  readonly end: number;
}

function replacementOf(state: LuaState, { replacement, match, start, end }: Replacement): string {
  const pattern = textOf(replacement);
  if (pattern !== undefined) {
    if (!pattern.includes('%')) return pattern;
    return pattern.replace(/%([\s\S]?)/g, (_whole, char: string) => {
      if (!/[0-9]/.test(char)) return char;
      if (char === '0') return match.whole(start, end);
      return String(match.capture(Number(char) - 1, start, end));
    });
  }
  const captures = match.captures(start, end);
  const value = isFunction(replacement)
    ? firstOf(state.callNow(replacement, ...captures))
    : state.index(replacement, captures[0], state.site);
  if (!isTrue(value)) return match.whole(start, end);
  const text = textOf(value);
  if (text === undefined) {
    throw state.hostFailure(`invalid replacement value (a ${typeName(value)})`);
  }
  return text;
}
