/** Substitution commands that print what an expression of CEL says. */
import { unpackCel } from '../../shared/cel/expression.ts';
import type { FormatCommand } from '../../shared/substitution/format.ts';
import { compileCel, type CelProgram } from '../cel/compile-cel.ts';
import { celJson, celText } from '../cel/print.ts';
import { CelFailure } from '../cel/values.ts';
import type { Reader } from './reader-factory.ts';

export const CEL_READERS = {
  CEL: (command: FormatCommand) => reader(command, celText),
  TYPED_CEL: (command: FormatCommand) => reader(command, celJson),
};

function reader(
  { args: [word = ''] }: FormatCommand,
  print: (value: ReturnType<CelProgram>) => ReturnType<Reader>,
): Reader {
  const expression = unpackCel(word);
  if (expression === undefined) throw new Error('cannot compile an expression that is not packed');
  const program = compileCel(expression);
  return (info) => {
    const value = program(info);
    return value instanceof CelFailure ? undefined : print(value);
  };
}
