/** Fields of entries for log services, by what they hold. */
import { repairUtf8 } from '../../../tap/repair-utf8.ts';
import { field, type TraceField } from '../../../tap/trace-message.ts';

export function text(at: number, name: string, value: string): TraceField {
  return field(at, name, { kind: 'string', text: repairUtf8(value, '!') });
}

export function number(at: number, name: string, value: number): TraceField {
  return field(at, name, { kind: 'uint32', value });
}

export function bytes(at: number, name: string, value: number): TraceField {
  return field(at, name, { kind: 'uint64', value: BigInt(value) });
}
