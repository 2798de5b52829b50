/**
 * Rules whose expressions only ECMAScript knows: V8 runs them with a limit of time, and one that
 * takes too long is not asked again.
 */
import type { Steps } from '../../loop/loop-turns.ts';
import { runLimited } from './match-limit.ts';
import type { TagMatch, TagRule } from './tag-rule.ts';

/** Times that one name may take too long: once may be the machine's fault. */
const SLOW_MAX = 3;

/** What the rules found in one name. */
export type FoundMatches = ReadonlyMap<TagRule, TagMatch | undefined>;

export class UnprovedRules {
  readonly #rules: Set<TagRule>;
  readonly #onTooSlow: (rule: TagRule) => void;

  constructor(rules: readonly TagRule[], onTooSlow: (rule: TagRule) => void) {
    this.#rules = new Set(rules);
    this.#onTooSlow = onTooSlow;
  }

  /** A step ends with the limit of time, or with the names. */
  *matchesOf(names: readonly string[]): Steps<readonly FoundMatches[]> {
    const found = names.map(() => new Map<TagRule, TagMatch | undefined>());
    let asked: TagRule | undefined;
    let [at, lastAt, times] = [0, -1, 0];
    const matchRest = (): void => {
      for (; at < names.length; at++) {
        for (const rule of this.#rules) {
          asked = rule;
          found[at]?.set(rule, rule.match(names[at] ?? ''));
        }
      }
    };
    while (this.#rules.size > 0 && !runLimited(matchRest)) {
      yield;
      // Many names may take long together.
      times = at === lastAt ? times + 1 : 1;
      lastAt = at;
      if (asked === undefined || times < SLOW_MAX) continue;
      times = 0;
      this.#rules.delete(asked);
      this.#onTooSlow(asked);
    }
    return found;
  }
}
