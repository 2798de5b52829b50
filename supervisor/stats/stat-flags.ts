/** What the store keeps of each statistic beside its value, in one byte: its kind, and flags. */
import type { StatKind, StatSpec } from '../../shared/stats/template.ts';

export const STAT_KINDS: readonly StatKind[] = ['counter', 'gauge', 'histogram', 'text_readout'];
export const KIND_MASK = 3;
export const COUNTER = 0;
/** Set by the first write, whatever its value. */
export const USED = 4;
export const HIDDEN = 8;
/** Left out by the stats matcher. */
export const REJECTED = 16;
/** Printed as 1 whatever the sum over the processes. */
export const FLAG = 32;
/** A child epoch does not take its parent's value. */
export const NEVER_IMPORT = 64;
/** The flag of a gauge: negative values are printed as unsigned 64-bit ones. */
export const WRAPS = 128;
/** The flag of a histogram, whose bit is the same: it records microseconds. */
export const IN_MICROSECONDS = 128;

export function specFlags(spec: StatSpec): number {
  return (
    STAT_KINDS.indexOf(spec.kind) |
    (spec.hidden === true ? HIDDEN : 0) |
    (spec.isFlag === true ? FLAG : 0) |
    (spec.wraps === true ? WRAPS : 0) |
    (spec.unit === 'us' ? IN_MICROSECONDS : 0) |
    (spec.import === 'never_import' ? NEVER_IMPORT : 0)
  );
}
