/** The functions of expressions with the numbers of arguments that they take, receivers included. */

/** Which of the functions that Envoy keeps switched off an expression may use. */
export interface CelFeatures {
  readonly stringConversion: boolean;
  readonly stringConcat: boolean;
  readonly stringFunctions: boolean;
}

export const CEL_OPERATORS: ReadonlyMap<string, number> = new Map([
  ['!_', 1],
  ['-_', 1],
  ['_+_', 2],
  ['_-_', 2],
  ['_*_', 2],
  ['_/_', 2],
  ['_%_', 2],
  ['_<_', 2],
  ['_<=_', 2],
  ['_>_', 2],
  ['_>=_', 2],
  ['_==_', 2],
  ['_!=_', 2],
  ['_[_]', 2],
  ['_?_:_', 3],
  ['@in', 2],
]);

/** Called by name, with a receiver or without. */
export const CEL_FUNCTIONS: ReadonlyMap<string, readonly number[]> = new Map([
  ['size', [1]],
  ['contains', [2]],
  ['startsWith', [2]],
  ['endsWith', [2]],
  ['int', [1]],
  ['uint', [1]],
  ['double', [1]],
  ['bool', [1]],
  ['bytes', [1]],
  ['dyn', [1]],
  ['type', [1]],
  ['duration', [1]],
  ['timestamp', [1]],
  ['getFullYear', [1, 2]],
  ['getMonth', [1, 2]],
  ['getDate', [1, 2]],
  ['getDayOfMonth', [1, 2]],
  ['getDayOfWeek', [1, 2]],
  ['getDayOfYear', [1, 2]],
  ['getHours', [1, 2]],
  ['getMinutes', [1, 2]],
  ['getSeconds', [1, 2]],
  ['getMilliseconds', [1, 2]],
]);

export const CEL_STRING_FUNCTIONS: ReadonlyMap<string, readonly number[]> = new Map([
  ['lowerAscii', [1]],
  ['upperAscii', [1]],
  ['replace', [3, 4]],
  ['split', [2, 3]],
]);
