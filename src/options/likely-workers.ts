/**
 * How many workers a command line probably asks for, told in a glance: all of it is read later, when
 * the workers load themselves already. A wrong guess costs the time of some processes, no more.
 */
import { hostInfoOf } from './host-facts.ts';

const SERVES = /^(?:-c|--config-path|--config-yaml)(?:=|$)/;
/** With them no server follows, or none that serves. */
const NO_SERVER = /^(?:-h|--help|--version|--hot-restart-version|--mode)(?:=|$)/;
const CONCURRENCY = '--concurrency';

/** 0: none, or nobody knows. */
export function likelyWorkers(words: readonly string[]): number {
  const [first = ''] = words;
  if (!first.startsWith('-') || words.some((word) => NO_SERVER.test(word))) return 0;
  if (!words.some((word) => SERVES.test(word))) return 0;
  const asked = askedFor(words);
  if (asked !== undefined) return /^\d{1,9}$/.test(asked) ? Math.max(1, Number(asked)) : 0;
  const usesCpuset = words.includes('--cpuset-threads');
  return Math.max(1, usesCpuset ? hostInfoOf.assignedCpus() : hostInfoOf.hardwareThreads());
}

function askedFor(words: readonly string[]): string | undefined {
  const at = words.findIndex((word) => word === CONCURRENCY || word.startsWith(`${CONCURRENCY}=`));
  if (at < 0) return undefined;
  const [, value] = words[at]?.split('=') ?? [];
  return value ?? words[at + 1] ?? '';
}
