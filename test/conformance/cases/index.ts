import type { ConformanceCase } from '../case.ts';
import { admin } from './admin.ts';
import { failures } from './failures.ts';
import { malformed } from './malformed.ts';
import { routing } from './routing.ts';
import { statPrefixes } from './stat-prefixes.ts';

export const cases: readonly ConformanceCase[] = [
  routing,
  malformed,
  failures,
  admin,
  statPrefixes,
];
