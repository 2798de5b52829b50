/** Runs re.extract, re.capture and re.captureN: what is found nowhere is a failure. */
import type { CelCapture, CelExpression } from '../../shared/cel/expression.ts';
import { makeRegexRunner } from '../../shared/regex/run-regex.ts';
import { parseSubstitution } from '../../shared/regex/substitution.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { CelFailure, LiteralMap, NO_OVERLOAD, type CelValue } from './values.ts';

const NOT_FOUND = new CelFailure('Unable to extract or capture by the given regex');

type Program = (info: StreamInfo) => CelValue;

/** `compile` makes programs of the texts that it works with. */
export function compileCapture(
  expression: CelCapture,
  compile: (expression: CelExpression) => Program,
): Program {
  const text = compile(expression.text);
  const rewrite = expression.rewrite && compile(expression.rewrite);
  const find = finderOf(expression);
  return (info) => find(text(info), rewrite?.(info) ?? '');
}

function finderOf({
  form,
  regex,
  groups: names,
}: CelCapture): (text: CelValue, rewrite: CelValue) => CelValue {
  const runner = regex && makeRegexRunner(regex);
  return (text, rewrite) => {
    if (typeof text !== 'string') return text instanceof CelFailure ? text : NO_OVERLOAD;
    const places = runner?.groups(text);
    if (places === undefined) return NOT_FOUND;
    const group = (index: number): string => {
      const start = places[2 * index] ?? -1;
      return start < 0 ? '' : text.slice(start, places[2 * index + 1]);
    };
    if (form === 'extract') return written(rewrite, names.length, group);
    if (names.length === 0) return NOT_FOUND;
    if (form === 'capture') return group(1);
    const map = new LiteralMap();
    for (const [index, name] of names.entries()) map.set(name, group(index + 1));
    return map;
  };
}

function written(rewrite: CelValue, groups: number, group: (index: number) => string): CelValue {
  if (typeof rewrite !== 'string') return rewrite instanceof CelFailure ? rewrite : NO_OVERLOAD;
  const { parts, highestGroup, error } = parseSubstitution(rewrite);
  if (error !== undefined || highestGroup > groups) return NOT_FOUND;
  return parts.map((part) => (typeof part === 'string' ? part : group(part))).join('');
}
