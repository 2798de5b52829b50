/**
 * Compiles expressions of CEL to functions of a stream. Nothing is thrown while one runs: what goes
 * wrong is a value that `&&`, `||` and `?:` treat as CEL says. Source: cel-spec, langdef.md.
 */
import type { CelConstant, CelExpression } from '../../shared/cel/expression.ts';
import { makeRegexRunner } from '../../shared/regex/run-regex.ts';
import type { StreamInfo } from '../stream/stream-info.ts';
import { calculate, concat, negate, type Arithmetic } from './arithmetic.ts';
import { attributeOf, rootOf } from './attributes.ts';
import { compileCapture } from './captures.ts';
import { CONVERSIONS } from './conversions.ts';
import { sizeOf, TEXT_FUNCTIONS, TEXT_TESTS } from './text-functions.ts';
import { isTimePart, timePart } from './time-parts.ts';
import {
  areEqual,
  CelBytes,
  CelDuration,
  CelFailure,
  CelTimestamp,
  CelUint,
  compareValues,
  headerOf,
  isList,
  isMap,
  LiteralMap,
  NO_OVERLOAD,
  NO_SUCH_KEY,
  numberOf,
  type CelMap,
  type CelValue,
} from './values.ts';

export type CelProgram = (info: StreamInfo) => CelValue;

/** Whether the expression says true; what goes wrong does not. */
export function compileCelCondition(expression: CelExpression): (info: StreamInfo) => boolean {
  const program = compileCel(expression);
  return (info) => program(info) === true;
}

export function compileCel(expression: CelExpression): CelProgram {
  switch (expression.kind) {
    case 'constant': {
      const value = constantValue(expression.constant);
      return () => value;
    }
    case 'name':
      return rootOf(expression.name);
    case 'select':
      return compileSelect(expression);
    case 'matches': {
      const text = compileCel(expression.text);
      const runner = makeRegexRunner(expression.regex);
      return (info) => {
        const value = text(info);
        if (typeof value === 'string') return runner.search(value);
        return value instanceof CelFailure ? value : NO_OVERLOAD;
      };
    }
    case 'capture':
      return compileCapture(expression, compileCel);
    case 'list':
      return compileList(expression.items);
    case 'map':
      return compileMap(expression.entries);
    case 'call':
      return compileCall(expression);
  }
}

function constantValue(constant: CelConstant): CelValue {
  switch (constant.type) {
    case 'null':
      return null;
    case 'bool':
    case 'double':
    case 'string':
      return constant.value;
    case 'int':
      return BigInt(constant.value);
    case 'uint':
      return new CelUint(BigInt(constant.value));
    case 'bytes':
      return new CelBytes(constant.value);
    case 'duration':
      return new CelDuration(BigInt(constant.value));
    case 'timestamp':
      return new CelTimestamp(BigInt(constant.value));
  }
}

function compileSelect({
  operand,
  field,
  isTest,
}: Extract<CelExpression, { kind: 'select' }>): CelProgram {
  const attribute = operand.kind === 'name' ? attributeOf(operand.name, field) : undefined;
  if (attribute !== undefined) {
    return isTest
      ? (info) => attribute(info) !== undefined
      : (info) => attribute(info) ?? NO_SUCH_KEY;
  }
  if (operand.kind === 'select' && operand.field === 'headers' && !isTest) {
    const header = compileHeader(operand, field);
    if (header !== undefined) return header;
  }
  const of = compileCel(operand);
  return (info) => {
    const value = of(info);
    if (value instanceof CelFailure) return value;
    if (!isMap(value)) return NO_OVERLOAD;
    const member = value.get(field);
    return isTest ? member !== undefined : (member ?? missing(value, field));
  };
}

/** JSON's null is a member like any other. */
function missing(map: CelMap, key: CelValue): CelValue {
  return map.get(key) === null ? null : NO_SUCH_KEY;
}

/** A header by its constant name, without a map around the headers; undefined for other lookups. */
function compileHeader(operand: CelExpression, key: string): CelProgram | undefined {
  if (operand.kind !== 'select' || operand.isTest || operand.field !== 'headers') return undefined;
  if (operand.operand.kind !== 'name') return undefined;
  const name = key.toLowerCase();
  switch (operand.operand.name) {
    case 'request':
      return (info) => headerOf(info.requestHeaders, name) ?? NO_SUCH_KEY;
    case 'response':
      return (info) => headerOf(info.responseHeaders, name) ?? NO_SUCH_KEY;
    default:
      return undefined;
  }
}

function compileList(items: readonly CelExpression[]): CelProgram {
  const programs = items.map(compileCel);
  return (info) => {
    const values = programs.map((program) => program(info));
    return values.find((value) => value instanceof CelFailure) ?? values;
  };
}

const BAD_KEY = new CelFailure('invalid map key');

function compileMap(entries: readonly (readonly [CelExpression, CelExpression])[]): CelProgram {
  const programs = entries.map(([key, value]) => [compileCel(key), compileCel(value)] as const);
  return (info) => {
    const map = new LiteralMap();
    for (const [keyOf, valueOf] of programs) {
      const [key, value] = [keyOf(info), valueOf(info)];
      if (key instanceof CelFailure) return key;
      if (value instanceof CelFailure) return value;
      if (!map.set(key, value)) return BAD_KEY;
    }
    return map;
  };
}

function compileCall({ name, args }: Extract<CelExpression, { kind: 'call' }>): CelProgram {
  if (name === '_[_]') return compileIndex(args);
  const programs = args.map(compileCel);
  if (name === '_&&_') return joined(programs, false);
  if (name === '_||_') return joined(programs, true);
  const [first = nothing, second = nothing, third = nothing] = programs;
  if (name === '_?_:_') return choice(first, second, third);
  const unary = programs.length === 1 ? unaryOf(name) : undefined;
  if (unary !== undefined) return applied(first, unary);
  const binary = programs.length === 2 ? binaryOf(name) : undefined;
  if (binary !== undefined) return appliedToTwo(first, second, binary);
  return compileFunction(name, programs);
}

const nothing: CelProgram = () => NO_OVERLOAD;

/** `decisive` decides whatever the others are, errors too. */
function joined(programs: readonly CelProgram[], decisive: boolean): CelProgram {
  return (info) => {
    let failure: CelFailure | undefined;
    for (const program of programs) {
      const value = program(info);
      if (value === decisive) return decisive;
      if (typeof value === 'boolean') continue;
      failure ??= value instanceof CelFailure ? value : NO_OVERLOAD;
    }
    return failure ?? !decisive;
  };
}

function choice(condition: CelProgram, then: CelProgram, otherwise: CelProgram): CelProgram {
  return (info) => {
    const value = condition(info);
    if (typeof value === 'boolean') return value ? then(info) : otherwise(info);
    return value instanceof CelFailure ? value : NO_OVERLOAD;
  };
}

type Unary = (value: CelValue) => CelValue;
type Binary = (one: CelValue, other: CelValue) => CelValue;

function applied(program: CelProgram, apply: Unary): CelProgram {
  return (info) => {
    const value = program(info);
    return value instanceof CelFailure ? value : apply(value);
  };
}

function appliedToTwo(first: CelProgram, second: CelProgram, apply: Binary): CelProgram {
  return (info) => {
    const one = first(info);
    if (one instanceof CelFailure) return one;
    const other = second(info);
    return other instanceof CelFailure ? other : apply(one, other);
  };
}

function unaryOf(name: string): Unary | undefined {
  if (name === '!_') return (value) => (typeof value === 'boolean' ? !value : NO_OVERLOAD);
  if (name === '-_') return negate;
  if (name === 'size') return sizeOf;
  if (isTimePart(name)) return (value) => timePart(name, value);
  return CONVERSIONS.get(name);
}

function binaryOf(name: string): Binary | undefined {
  const test = TEXT_TESTS.get(name);
  if (test !== undefined) {
    return (one, other) =>
      typeof one === 'string' && typeof other === 'string' ? test(one, other) : NO_OVERLOAD;
  }
  if (isTimePart(name)) return (value, zone) => timePart(name, value, zone);
  return OPERATORS.get(name);
}

function arithmetic(operator: Arithmetic): Binary {
  return (one, other) => calculate(operator, one, other);
}

function ordered(fits: (order: number) => boolean): Binary {
  return (one, other) => {
    const order = compareValues(one, other);
    return order === undefined ? NO_OVERLOAD : fits(order);
  };
}

function isIn(value: CelValue, container: CelValue): CelValue {
  if (isList(container)) return container.some((item) => areEqual(item, value));
  return isMap(container) ? container.get(value) !== undefined : NO_OVERLOAD;
}

function compileFunction(name: string, programs: readonly CelProgram[]): CelProgram {
  const apply = TEXT_FUNCTIONS.get(name);
  if (apply === undefined) return nothing;
  return (info) => {
    const values = programs.map((program) => program(info));
    const failure = values.find((value) => value instanceof CelFailure);
    if (failure !== undefined) return failure;
    const [text, ...args] = values;
    return typeof text === 'string' ? apply(text, args) : NO_OVERLOAD;
  };
}

const OPERATORS: ReadonlyMap<string, Binary> = new Map<string, Binary>([
  ['_==_', (one, other) => areEqual(one, other)],
  ['_!=_', (one, other) => !areEqual(one, other)],
  ['_<_', ordered((order) => order < 0)],
  ['_<=_', ordered((order) => order <= 0)],
  ['_>_', ordered((order) => order > 0)],
  ['_>=_', ordered((order) => order >= 0)],
  ['@in', isIn],
  ['concat', concat],
  ['_+_', arithmetic('_+_')],
  ['_-_', arithmetic('_-_')],
  ['_*_', arithmetic('_*_')],
  ['_/_', arithmetic('_/_')],
  ['_%_', arithmetic('_%_')],
]);

const OUT_OF_BOUNDS = new CelFailure('Index error');

function compileIndex([operand, key]: readonly CelExpression[]): CelProgram {
  if (operand === undefined || key === undefined) return nothing;
  if (key.kind === 'constant' && key.constant.type === 'string') {
    const text = key.constant.value;
    const header = compileHeader(operand, text);
    if (header !== undefined) return header;
  }
  return appliedToTwo(compileCel(operand), compileCel(key), (container, index) => {
    if (isMap(container)) return container.get(index) ?? missing(container, index);
    if (!isList(container)) return NO_OVERLOAD;
    const place = numberOf(index);
    if (place === undefined) return NO_OVERLOAD;
    return container[Number(place)] ?? itemOf(container, Number(place));
  });
}

function itemOf(list: readonly CelValue[], index: number): CelValue {
  return list[index] === null ? null : OUT_OF_BOUNDS;
}
